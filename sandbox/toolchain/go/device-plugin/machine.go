package main

import (
	"fmt"

	"github.com/NVIDIA/go-nvlib/pkg/nvlib/device"
	"github.com/NVIDIA/go-nvml/pkg/nvml"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/dgxa100"
)

// machine is NVIDIA's mock of a DGX A100 with the node's number of GPUs and their memory. Its tables of MIG profiles and
// placements hold for every GPU of seven compute and eight memory slices; only an instance's memory grows with the card.
// Of a real node it is NVML itself.
func machine(node Node) (nvml.Interface, error) {
	if node.Real {
		driver := nvml.New()
		if ret := driver.Init(); ret != nvml.SUCCESS {
			return nil, fmt.Errorf("NVML: %v", driver.ErrorString(ret))
		}
		return driver, nil
	}
	driver := dgxa100.New()
	if node.Count > len(driver.Devices) {
		return nil, fmt.Errorf("%d GPUs, and the mock has %d", node.Count, len(driver.Devices))
	}
	driver.DeviceGetCountFunc = func() (int, nvml.Return) { return node.Count, nvml.SUCCESS }
	for _, each := range driver.Devices[:node.Count] {
		gpu := each.(*dgxa100.Device)
		gpu.IsMigDeviceHandleFunc = func() (bool, nvml.Return) { return false, nvml.SUCCESS }
		if !node.MIG {
			gpu.GetMigModeFunc = func() (int, int, nvml.Return) { return 0, 0, nvml.ERROR_NOT_SUPPORTED }
		}
		before := gpu.MemoryInfo.Total >> 20
		gpu.MemoryInfo.Total = node.MemoryMiB << 20
		profile := gpu.GetGpuInstanceProfileInfoFunc
		gpu.GetGpuInstanceProfileInfoFunc = func(id int) (nvml.GpuInstanceProfileInfo, nvml.Return) {
			info, ret := profile(id)
			info.MemorySizeMB = info.MemorySizeMB * node.MemoryMiB / before
			return info, ret
		}
	}
	for _, gpu := range driver.Devices[:node.Count] {
		if err := partition(gpu.(*dgxa100.Device), device.New(driver), node.Instances); err != nil {
			return nil, err
		}
	}
	return driver, nil
}

// partition creates the instances with the mock, where its tables have them, and adds what the mock lacks: their handles.
func partition(gpu *dgxa100.Device, devices device.Interface, instances []Instance) error {
	if len(instances) > 0 {
		gpu.SetMigMode(nvml.DEVICE_MIG_ENABLE)
	}
	var handles []nvml.Device
	created := map[int]nvml.GpuInstance{}
	counts := map[string]uint32{}
	taken := map[uint32]string{}
	for _, instance := range instances {
		profile, err := devices.ParseMigProfile(instance.Profile)
		if err != nil {
			return fmt.Errorf("no profile %s: %w", instance.Profile, err)
		}
		info, _ := gpu.GetGpuInstanceProfileInfo(profile.GetInfo().GIProfileID)
		if counts[instance.Profile]++; counts[instance.Profile] > info.InstanceCount {
			return fmt.Errorf("at most %d of %s", info.InstanceCount, instance.Profile)
		}
		placement, err := place(gpu, info, instance, taken)
		if err != nil {
			return err
		}
		made, _ := gpu.CreateGpuInstanceWithPlacement(&info, &placement)
		gi := made.(*dgxa100.GpuInstance)
		compute, ret := gi.GetComputeInstanceProfileInfo(profile.GetInfo().CIProfileID, 0)
		if ret != nvml.SUCCESS {
			return fmt.Errorf("no compute instance of %s: %v", instance.Profile, ret)
		}
		ci, _ := gi.CreateComputeInstance(&compute)
		gi.GetComputeInstanceByIdFunc = func(int) (nvml.ComputeInstance, nvml.Return) { return ci, nvml.SUCCESS }
		created[int(gi.Info.Id)] = gi
		handles = append(handles, handle(gpu, int(gi.Info.Id), info.MemorySizeMB))
	}
	gpu.GetMaxMigDeviceCountFunc = func() (int, nvml.Return) { return 7, nvml.SUCCESS }
	gpu.GetMigDeviceHandleByIndexFunc = func(index int) (nvml.Device, nvml.Return) {
		if index >= len(handles) {
			return nil, nvml.ERROR_NOT_FOUND
		}
		return handles[index], nvml.SUCCESS
	}
	gpu.GetGpuInstanceByIdFunc = func(id int) (nvml.GpuInstance, nvml.Return) { return created[id], nvml.SUCCESS }
	return nil
}

// place is the placement of an instance, if the mock's table has it and it overlaps no other.
func place(
	gpu nvml.Device, info nvml.GpuInstanceProfileInfo, instance Instance, taken map[uint32]string,
) (nvml.GpuInstancePlacement, error) {
	placements, _ := gpu.GetGpuInstancePossiblePlacements(&info)
	for _, placement := range placements {
		if placement.Start != instance.Start {
			continue
		}
		for slice := placement.Start; slice < placement.Start+placement.Size; slice++ {
			if other := taken[slice]; other != "" {
				return placement, fmt.Errorf("memory slice %d is of %s and of %s", slice, other, instance.Profile)
			}
			taken[slice] = instance.Profile
		}
		return placement, nil
	}
	return nvml.GpuInstancePlacement{}, fmt.Errorf(
		"%s does not start at memory slice %d, but at one of %v", instance.Profile, instance.Start, placements)
}

// handle is a MIG device as NVML returns it.
func handle(gpu *dgxa100.Device, instance int, memoryMB uint64) nvml.Device {
	uuid := fmt.Sprintf("MIG-%s/%d/0", gpu.UUID, instance)
	return &mock.Device{
		IsMigDeviceHandleFunc:    func() (bool, nvml.Return) { return true, nvml.SUCCESS },
		GetUUIDFunc:              func() (string, nvml.Return) { return uuid, nvml.SUCCESS },
		GetGpuInstanceIdFunc:     func() (int, nvml.Return) { return instance, nvml.SUCCESS },
		GetComputeInstanceIdFunc: func() (int, nvml.Return) { return 0, nvml.SUCCESS },
		GetDeviceHandleFromMigDeviceHandleFunc: func() (nvml.Device, nvml.Return) {
			return gpu, nvml.SUCCESS
		},
		GetAttributesFunc: func() (nvml.DeviceAttributes, nvml.Return) {
			return nvml.DeviceAttributes{MemorySizeMB: memoryMB}, nvml.SUCCESS
		},
		GetMemoryInfoFunc: func() (nvml.Memory, nvml.Return) {
			return nvml.Memory{Total: memoryMB << 20}, nvml.SUCCESS
		},
	}
}
