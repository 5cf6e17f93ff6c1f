import base64
import hmac
import os
import re
import tempfile
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# Decodes the 32 bytes after whsec_. Fails without a secret, because anyone can sign with an empty key.
SECRETS = os.environ.get("SEGREDO", "").split(" ")
if not all(re.fullmatch("whsec_[A-Za-z0-9+/]{43}=", secret) for secret in SECRETS):
    raise SystemExit("Put the segredo of each webhook (whsec_...) into SEGREDO, separated by one space.")
KEYS = [base64.b64decode(secret[len("whsec_") :]) for secret in SECRETS]


# Returns the reason to reject a request, or None if Emissor signed it within the last five minutes.
def rejection_reason(id, timestamp, signatures, body, now):
    if not re.fullmatch("[A-Za-z0-9_-]+", id):
        return "webhook-id is missing or malformed"
    if not re.fullmatch("[0-9]{1,12}", timestamp):
        return "webhook-timestamp is missing or malformed"
    if abs(now - int(timestamp)) > 300:
        return "webhook-timestamp differs from this clock by more than 300 seconds"
    if not signatures:
        return "webhook-signature is missing"
    content = f"{id}.{timestamp}.".encode() + body
    expected = [b"v1," + base64.b64encode(hmac.digest(key, content, "sha256")) for key in KEYS]
    candidates = [signature.encode() for signature in signatures.split(" ")]
    if any(hmac.compare_digest(one, other) for one in expected for other in candidates):  # in constant time
        return None
    return "no signature matches: check that SEGREDO contains the segredo of this webhook"


class Receiver(BaseHTTPRequestHandler):
    timeout = 15  # the maximum seconds until the body is complete

    def do_POST(self):
        try:
            status = self.receive()
        except Exception as error:
            status = self.reject(500, type(error).__name__)  # the event is not stored, so Emissor will retry
        self.send_response(status)
        self.end_headers()

    def receive(self):
        body = self.read_body()  # the bytes as they arrived
        if body is None:
            return self.reject(413, "the body is larger than 64 KiB, or is incomplete")
        id = self.headers.get("webhook-id", "")
        timestamp = self.headers.get("webhook-timestamp", "")
        signatures = self.headers.get("webhook-signature", "")
        reason = rejection_reason(id, timestamp, signatures, body, time.time())
        if reason:
            return self.reject(400, reason)
        store(id, body)
        return 204

    def reject(self, status, reason):
        self.log_error("%d: %s", status, reason)
        return status

    # Returns None if the body is over 64 KiB or has no length.
    def read_body(self):
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            return self.read_chunks()
        length = self.headers.get("Content-Length", "")
        if not re.fullmatch("[0-9]{1,5}", length) or int(length) > 65536:
            return None
        return self.rfile.read(int(length))

    # A proxy or tunnel may send the body in chunks (RFC 9112, section 7.1), which http.server does not decode.
    def read_chunks(self):
        body = b""
        while size := re.match(rb"0*([0-9A-Fa-f]{1,5})[;\s]", self.rfile.readline(1024)):
            length = int(size[1], 16)
            if length == 0:
                # Trailers and an empty line end the body. Unread bytes may reset the connection and lose the response.
                ends = any(self.rfile.readline(1024) in (b"\r\n", b"\n") for _ in range(100))
                return body if ends else None
            if len(body) + length > 65536:
                return None
            body += self.rfile.read(length)
            self.rfile.readline(3)  # the line end after the chunk
        return None


# Stores each webhook-id once. In your system, use an INSERT with a unique key.
def store(id, body):
    if not os.path.exists(f"events/{id}.json"):
        with tempfile.NamedTemporaryFile(dir="events", delete=False) as file:
            file.write(body)
        os.replace(file.name, f"events/{id}.json")  # only complete files have this name
        print(id, body.decode(), flush=True)


os.makedirs("events", exist_ok=True)
ThreadingHTTPServer(("127.0.0.1", 8080), Receiver).serve_forever()
