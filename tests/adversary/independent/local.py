"""What a page in a browser, or another user of the machine, asks a sandbox for."""

from typing import Final

from tests.adversary.probe import Visit

BUCKETS: Final = "AWS4-HMAC-SHA256 Credential=x/20260101/us-east-1/s3/aws4_request"


def aws(act: str, path: str = "/", method: str = "GET", **headers: str) -> Visit:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Visit(act, method=method, path=path, headers={"Authorization": BUCKETS, **named})


LOCAL: Final = (
    aws("asks by a name with a dot at its end", Host="evil.example."),
    aws("asks by a name in capitals", Host="EVIL.EXAMPLE"),
    aws("asks by the address of any interface", Host="0.0.0.0"),  # noqa: S104 - a name in a request
    aws("asks by an address of the network", Host="10.0.0.1"),
    aws("asks by another address of loopback as a number", Host="2130706433"),
    aws("asks with a user in the name", Host="127.0.0.1@evil.example"),
    aws("asks by a name that starts like ours", Host="localhost-evil.example"),
    aws("asks as a picture of a page", Sec_Fetch_Site="cross-site", Sec_Fetch_Dest="image", Sec_Fetch_Mode="no-cors"),
    aws("asks from a page with a referrer only", Referer="https://evil.example/"),
    aws("asks from a file", Origin="null"),
    aws("asks from another port of the machine", Origin="http://127.0.0.1:1"),
    aws("asks from an extension", Origin="chrome-extension://abc"),
    aws("asks whether it may ask", method="OPTIONS", Origin="https://evil.example",
        Access_Control_Request_Method="GET", Access_Control_Request_Private_Network="true"),
    aws("resets the sandbox's AWS by a form", path="/moto-api/reset", method="POST", Origin="https://evil.example"),
    aws("reads the dashboard of the sandbox's AWS", path="/moto-api/", Sec_Fetch_Site="cross-site"),
    aws("asks with a URL of its own", path="http://evil.example/", Host="evil.example"),
    Visit("reads Secrets of the cluster without a certificate", server="api", path="/api/v1/secrets"),
    Visit("reads the cluster with an invented token", server="api", path="/api/v1/namespaces",
        headers={"Authorization": "Bearer of-no-use"}),
    Visit("reads the cluster as an authenticating proxy", server="api", path="/api/v1/namespaces",
        headers={"X-Remote-User": "admin", "X-Remote-Group": "system:masters"}),
    Visit("becomes an administrator by a header", server="api", path="/api/v1/namespaces",
        headers={"Impersonate-User": "admin", "Impersonate-Group": "system:masters"}),
    Visit("reads profiles of the API server", server="api", path="/debug/pprof/heap"),
    Visit("reads the store without a certificate", server="etcd", path="/v3/kv/range", method="POST"),
    Visit("reads the keys of the sandbox's files as another user", server="files"),
    Visit("asks the sandbox's AWS as another user", server="user"),
)  # fmt: skip
