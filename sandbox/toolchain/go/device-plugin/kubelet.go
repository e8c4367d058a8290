package main

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	pluginapi "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

// kubelet takes registrations of device plugins, as a node's kubelet does at its socket.
type kubelet struct {
	pluginapi.UnimplementedRegistrationServer
	mutex     sync.Mutex
	endpoints map[string]string
}

func listen() (*kubelet, error) {
	socket, err := net.Listen("unix", pluginapi.KubeletSocket)
	if err != nil {
		return nil, err
	}
	k := &kubelet{}
	server := grpc.NewServer()
	pluginapi.RegisterRegistrationServer(server, k)
	go server.Serve(socket)
	return k, nil
}

func (k *kubelet) forget() {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.endpoints = map[string]string{}
}

// Register is what a plugin calls, once for each resource.
func (k *kubelet) Register(_ context.Context, request *pluginapi.RegisterRequest) (*pluginapi.Empty, error) {
	if request.Version != pluginapi.Version {
		return nil, fmt.Errorf("version %s, and the kubelet supports %s", request.Version, pluginapi.Version)
	}
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.endpoints[request.ResourceName] = request.Endpoint
	return &pluginapi.Empty{}, nil
}

// answer asks each registered plugin for its devices, and for one and two of them.
func (k *kubelet) answer() (Answer, error) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	answer := Answer{Resources: map[string]int{}, Granted: map[string]int{}}
	for resource, endpoint := range k.endpoints {
		devices, granted, err := inquire(endpoint)
		if err != nil {
			return Answer{}, fmt.Errorf("%s: %w", resource, err)
		}
		answer.Resources[resource], answer.Granted[resource] = devices, granted
	}
	return answer, nil
}

func inquire(endpoint string) (devices, granted int, err error) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	connection, err := grpc.NewClient("unix://"+filepath.Join(pluginapi.DevicePluginPath, endpoint),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return 0, 0, err
	}
	defer connection.Close()
	client := pluginapi.NewDevicePluginClient(connection)
	stream, err := client.ListAndWatch(ctx, &pluginapi.Empty{})
	if err != nil {
		return 0, 0, err
	}
	list, err := stream.Recv()
	if err != nil {
		return 0, 0, err
	}
	var ids []string
	for _, each := range list.Devices {
		if each.Health == pluginapi.Healthy {
			ids = append(ids, each.ID)
		}
	}
	for wanted := 1; wanted <= min(2, len(ids)); wanted++ {
		request := &pluginapi.AllocateRequest{
			ContainerRequests: []*pluginapi.ContainerAllocateRequest{{DevicesIds: ids[:wanted]}},
		}
		if _, err := client.Allocate(ctx, request); err == nil {
			granted = wanted
		}
	}
	return len(ids), granted, nil
}
