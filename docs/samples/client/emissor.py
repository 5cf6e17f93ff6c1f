import fcntl, json, os, threading, time
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

AUTH_URL, BASE_URL, TOKENS_FILE = (os.environ[name] for name in ("AUTH_URL", "BASE_URL", "TOKENS_FILE"))
CLIENT = {"client_id": os.environ["CLIENT_ID"], "client_secret": os.environ["CLIENT_SECRET"]}
USER = {"username": os.environ["USER_EMAIL"], "password": os.environ["USER_PASSWORD"]}
one_at_a_time = threading.Lock()


def call(method, path, body=None):
    """Calls the API; once more, with another token, where the stored one is refused."""
    token = valid_token()
    status, answer = call_with(token, method, path, body)
    return call_with(valid_token(token), method, path, body) if status == 401 else (status, answer)


def call_with(token, method, path, body):
    headers = {"Authorization": "Bearer " + token, "Content-Type": "application/json"}
    return send(Request(BASE_URL + path, body and body.encode(), headers, method=method))


def valid_token(refused=None):
    """Returns the stored token unless it was refused. Threads and processes that need another wait at the file."""
    with one_at_a_time, open(os.open(TOKENS_FILE, os.O_RDWR | os.O_CREAT, 0o600), "r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        pair = parsed(file.read()) or {}  # half of it, where a process was killed or the disk was full
        if pair.get("refused_until", 0) > time.time():
            raise RuntimeError("The login was refused: mend the password and delete " + TOKENS_FILE)
        if pair.get("access_token") in (None, refused):
            pair = renew(pair.get("refresh_token"))
            if pair.get("error") == "invalid_grant":
                pair["refused_until"] = time.time() + 900
            if "access_token" in pair or "refused_until" in pair:
                file.seek(0)
                file.truncate()
                file.write(json.dumps(pair))
                file.flush()
                os.fsync(file.fileno())  # stored before anybody uses it
        if "access_token" not in pair:
            raise RuntimeError("There is no token: " + pair.get("error", "another answered in place of the service"))
        return pair["access_token"]


def renew(refresh_token):
    pair = {"error": "invalid_grant"}
    if refresh_token:
        pair = grant({"grant_type": "refresh_token", "refresh_token": refresh_token})
    if pair.get("error") == "invalid_grant":  # the session is over: one login, and no loop
        pair = grant({"grant_type": "password", **USER})
    return pair


def grant(form, tries=1):
    """Repeats a request that failed or whose answer was lost: for 30 seconds a refresh token yields the same successor."""
    try:
        status, answer = send(Request(AUTH_URL + "/oauth/v1/token", urlencode({**form, **CLIENT}).encode()), timeout=8)
    except (OSError, HTTPException):
        status, answer = 500, None
    if status < 500 and answer or tries == 3:
        return answer or {"error": "no answer"}
    time.sleep(tries)
    return grant(form, tries + 1)


def send(request, tries=5, timeout=30):
    """Waits as long as 429 and 503 ask for, up to a minute, four times at most."""
    try:
        with urlopen(request, timeout=timeout) as answer:
            return answer.status, parsed(answer.read())
    except HTTPError as error:
        if error.code not in (429, 503) or tries == 1:
            return error.code, parsed(error.read())
        seconds = error.headers.get("Retry-After", "")
        time.sleep(min(int(seconds), 60) if seconds.isdecimal() else 1)  # a gateway may tell a date
        return send(request, tries - 1, timeout)


def parsed(text):
    """Returns nothing where an answer is no JSON: a gateway's page."""
    try:
        return json.loads(text or "null")
    except ValueError:
        return None
