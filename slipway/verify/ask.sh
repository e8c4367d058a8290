ask() {
  curl -sS --max-time 30 -o /tmp/answer -w '%{http_code}' -H 'Content-Type: application/json' -d "$REQUEST" "$1" \
    2>/tmp/error
}
until [ "$(ask "$INSIDE")" = 200 ]; do sleep 5; done
{ echo "inside 200"; head -c 1000 /tmp/answer; echo; } >/tmp/message
cp /tmp/message /dev/termination-log
[ -n "$OUTSIDE" ] || exit 0
end=$(( $(date +%s) + PUBLIC_SECONDS ))
while code=$(ask "$OUTSIDE"); [ "$code" != 200 ] && [ "$(date +%s)" -lt "$end" ]; do sleep 10; done
{ cat /tmp/message; echo "outside $code $(head -c 500 /tmp/error)"; } >/dev/termination-log
