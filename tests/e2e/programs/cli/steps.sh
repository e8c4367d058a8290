#!/bin/sh
# A cluster with the AWS CLI, and a chart in it with helm: made, changed and deleted.
set -eu
trust='{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole",
  "Principal": {"Service": ["eks.amazonaws.com", "ec2.amazonaws.com"]}}]}'
role=$(aws iam create-role --role-name cli --assume-role-policy-document "$trust" --query Role.Arn --output text)
vpc=$(aws ec2 create-vpc --cidr-block 10.45.0.0/16 --query Vpc.VpcId --output text)
subnet() {
  aws ec2 create-subnet --vpc-id "$vpc" --cidr-block "$1" --availability-zone "$2" --query Subnet.SubnetId --output text
}
one=$(subnet 10.45.0.0/24 us-east-1a)
two=$(subnet 10.45.1.0/24 us-east-1b)

aws eks create-cluster --name cli --role-arn "$role" --resources-vpc-config "subnetIds=$one,$two" --query cluster.status
aws eks wait cluster-active --name cli
aws eks create-nodegroup --cluster-name cli --nodegroup-name workers --node-role "$role" --subnets "$one" "$two" \
  --scaling-config minSize=1,maxSize=3,desiredSize=1 --query nodegroup.status
aws eks wait nodegroup-active --cluster-name cli --nodegroup-name workers

# A kubeconfig that asks `aws eks get-token` for its token.
KUBECONFIG=$PWD/kubeconfig
export KUBECONFIG
aws eks update-kubeconfig --name cli --kubeconfig "$KUBECONFIG"
helm install web "$1" --wait --timeout 300s
aws eks update-nodegroup-config --cluster-name cli --nodegroup-name workers --scaling-config desiredSize=2 \
  --query update.type
aws eks wait nodegroup-active --cluster-name cli --nodegroup-name workers
helm upgrade web "$1" --set replicas=3 --wait --timeout 300s
helm list --output json
helm uninstall web --wait

aws eks delete-nodegroup --cluster-name cli --nodegroup-name workers --query nodegroup.status
aws eks wait nodegroup-deleted --cluster-name cli --nodegroup-name workers
aws eks delete-cluster --name cli --query cluster.status
aws eks wait cluster-deleted --name cli
aws eks list-clusters --query clusters --output json
