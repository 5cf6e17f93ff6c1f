import fcntl, json, os, threading, time
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

AUTH_URL, BASE_URL, TOKENS_FILE = (os.environ[name] for name in ("AUTH_URL", "BASE_URL", "TOKENS_FILE"))
CLIENT = {"client_id": os.environ["CLIENT_ID"], "client_secret": os.environ["CLIENT_SECRET"]}
USER = {"username": os.environ["USER_EMAIL"], "password": os.environ["USER_PASSWORD"]}
OWNER = " ".join((AUTH_URL, CLIENT["client_id"], USER["username"]))  # tokens of another are not used
one_at_a_time = threading.Lock()


def call(method, path, body=None):
    """Calls the API; once more, with another token, where the stored one is refused."""
    token = valid_token()
    status, answer = call_with(token, method, path, body)
    return call_with(valid_token(token), method, path, body) if status == 401 else (status, answer)


def call_with(token, method, path, body):
    headers = {"Authorization": "Bearer " + token, "Content-Type": "application/json"}
    data = body.encode() if body else None
    for tries in range(1, 6):
        status, answer, wait = send(Request(BASE_URL + path, data, headers, method=method), timeout=30)
        if not wait or tries == 5:
            return status, answer
        time.sleep(wait)


def valid_token(refused=None):
    """Returns the stored token unless it was refused. Threads and processes that need another wait at the file."""
    asked = time.time()
    with one_at_a_time, open(os.open(TOKENS_FILE, os.O_RDWR | os.O_CREAT, 0o600), "r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        pair = (parsed(file.read()) or {}).get(OWNER, {})  # half of it, where a process was killed or the disk was full
        if pair.get("refused_until", 0) > time.time():
            raise RuntimeError("The login was refused: mend the password and delete " + TOKENS_FILE)
        if asked < pair.get("failed_at", 0) <= time.time():  # whoever waits for a refresh fails with it
            raise RuntimeError("There is no token: another call got none")
        if pair.get("access_token") in (None, refused):
            fresh = renew(pair, file)
            kept = {"refused_until": time.time() + 900} if fresh.get("error") == "invalid_grant" else pair
            store(fresh if "access_token" in fresh else {**kept, "failed_at": time.time()}, file)  # before anybody uses it
            pair = fresh
        if "access_token" not in pair:
            raise RuntimeError("There is no token: " + pair.get("error", "another answered in place of the service"))
        return pair["access_token"]


def renew(pair, file):
    now = time.time()
    fresh, until = {"error": "invalid_grant"}, pair.setdefault("refresh_until", now + float(os.environ.get("REFRESH_SECONDS") or 25))
    store(pair, file)  # before the refresh token is sent: no later call may send it after that
    if "refresh_token" in pair and now <= until:
        fresh = grant({"grant_type": "refresh_token", "refresh_token": pair["refresh_token"]}, until)
    if fresh.get("error") in ("invalid_grant", "unauthorized_client"):
        # The session is over, or may not be refreshed: one login, and no loop.
        fresh = grant({"grant_type": "password", **USER})
    return fresh


def store(pair, file):
    file.seek(0)
    file.write(json.dumps({OWNER: pair}))
    file.truncate()
    os.fsync(file.fileno())


def grant(form, until=float("inf")):
    """Repeats a request that failed or whose answer was lost. A refresh token that is sent again after 30 seconds counts as stolen."""
    for tries in range(1, 5):
        try:
            status, answer, wait = send(Request(AUTH_URL + "/oauth/v1/token", urlencode({**form, **CLIENT}).encode()), timeout=8)
        except (OSError, HTTPException):
            status, answer, wait = 500, None, 0
        if status < 500 and not wait and answer or tries == 4:
            return answer or {"error": "no answer"}
        time.sleep(max(wait, tries))  # before a login, too
        if time.time() >= until:
            return {"error": "invalid_grant"}


def send(request, timeout):
    """Returns the status, the answer, and the seconds that 429 and 503 ask to wait, a minute at most."""
    try:
        with urlopen(request, timeout=timeout) as answer:
            return answer.status, parsed(answer.read()), 0
    except HTTPError as error:
        seconds = error.headers.get("Retry-After", "")
        wait = min(int(seconds), 60) if seconds.isdecimal() else 1  # a gateway may tell a date
        return error.code, parsed(error.read()), wait if error.code in (429, 503) else 0


def parsed(text):
    """Returns nothing where an answer is no JSON: a gateway's page."""
    try:
        return json.loads(text or "null")
    except ValueError:
        return None
