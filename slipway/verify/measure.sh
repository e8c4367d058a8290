code=0
/opt/amazon/openmpi/bin/mpirun --allow-run-as-root -np "$PROCESSES" --host "$HOSTS" --bind-to none \
  -x PATH -x LD_LIBRARY_PATH -x LD_PRELOAD -x FI_PROVIDER -x NCCL_DEBUG -x NCCL_DEBUG_FILE -x NCCL_SOCKET_IFNAME \
  /opt/nccl-tests/build/all_reduce_perf -b "$SMALLEST" -e "$LARGEST" -f 2 -g 1 -c 1 -n 20 >/tmp/out 2>&1 || code=$?
{
  cat /tmp/nccl.* 2>/dev/null | grep -iom1 'selected provider is [a-z0-9-]*' || true
  grep -E '^ *[0-9]+ +[0-9]+ +[a-z]+ ' /tmp/out | tail -n 3 || true
  grep '^# Out of bounds' /tmp/out || true
  if [ "$code" != 0 ]; then tail -c 1500 /tmp/out; fi
} >/dev/termination-log
exit "$code"
