<?php
/** Calls the API; once more, with another token, where the stored one is refused. */
function call(string $method, string $path, ?string $body = null): array
{
    $callWith = fn (#[SensitiveParameter] string $token): array => send($method, getenv('BASE_URL') . $path, [
        "Authorization: Bearer $token", 'Content-Type: application/json',
    ], $body);
    $token = validToken();
    $answer = $callWith($token);
    return $answer['status'] === 401 ? $callWith(validToken($token)) : $answer;
}

/** Returns the stored token unless it was refused. Processes that need another wait at the file. */
function validToken(#[SensitiveParameter] ?string $refused = null): string
{
    $path = getenv('TOKENS_FILE') ?: throw new RuntimeException('TOKENS_FILE is not set');
    $root = $_SERVER['DOCUMENT_ROOT'] ?? '';
    if ($root !== '' && str_starts_with(realpath(dirname($path)) . DIRECTORY_SEPARATOR, realpath($root) . DIRECTORY_SEPARATOR)) {
        throw new RuntimeException('TOKENS_FILE is below DOCUMENT_ROOT, where anybody can fetch it: move it out of there');
    }
    umask(0077);
    flock($file = fopen($path, 'c+'), LOCK_EX);
    try {
        $pair = json_decode(stream_get_contents($file), true) ?? [];
        if (($pair['refused_until'] ?? 0) > time()) {
            throw new RuntimeException('The login was refused: mend the password and delete ' . $path);
        }
        if (in_array($pair['access_token'] ?? null, [null, $refused], true)) {
            $pair = renew($pair['refresh_token'] ?? null);
            if (($pair['error'] ?? '') === 'invalid_grant') {
                $pair['refused_until'] = time() + 900;
            }
            if (isset($pair['access_token']) || isset($pair['refused_until'])) {
                rewind($file);
                ftruncate($file, 0);
                fwrite($file, json_encode($pair));
                fsync($file); // stored before anybody uses it
            }
        }
        return $pair['access_token'] ?? throw new RuntimeException('There is no token: ' . ($pair['error'] ?? 'another answered in place of the service'));
    } finally {
        fclose($file);
    }
}

function renew(#[SensitiveParameter] ?string $refreshToken): array
{
    $pair = ['error' => 'invalid_grant'];
    if ($refreshToken !== null) {
        $pair = grant(['grant_type' => 'refresh_token', 'refresh_token' => $refreshToken]);
    }
    if (($pair['error'] ?? null) === 'invalid_grant') { // the session is over: one login, and no loop
        $pair = grant(['grant_type' => 'password', 'username' => getenv('USER_EMAIL'), 'password' => getenv('USER_PASSWORD')]);
    }
    return $pair;
}

/** Repeats a request that failed or whose answer was lost: for 30 seconds a refresh token yields the same successor. */
function grant(#[SensitiveParameter] array $form, int $tries = 1): array
{
    $form += ['client_id' => getenv('CLIENT_ID'), 'client_secret' => getenv('CLIENT_SECRET')];
    $headers = ['Content-Type: application/x-www-form-urlencoded'];
    ['status' => $status, 'json' => $json] = send('POST', getenv('AUTH_URL') . '/oauth/v1/token', $headers, http_build_query($form), 8);
    if ($status < 500 && $json !== null || $tries === 3) {
        return $json ?? ['error' => 'no answer'];
    }
    sleep($tries);
    return grant($form, $tries + 1);
}

/** Waits as long as 429 and 503 ask for, up to a minute, four times at most. Status 0: no answer came. */
function send(string $method, string $url, #[SensitiveParameter] array $headers, #[SensitiveParameter] ?string $body, int $timeout = 30, int $tries = 5): array
{
    $options = ['method' => $method, 'header' => $headers, 'content' => $body, 'timeout' => $timeout, 'ignore_errors' => true, 'follow_location' => 0];
    $text = @file_get_contents($url, false, stream_context_create(['http' => $options]));
    $lines = $text === false ? [''] : $http_response_header;
    $status = (int) substr($lines[0], 9, 3);
    if (!in_array($status, [429, 503]) || $tries === 1) {
        return ['status' => $status, 'json' => json_decode((string) $text, true)];
    }
    $seconds = array_map(fn (string $line): int => sscanf(strtolower($line), 'retry-after: %d')[0] ?? 1, $lines);
    sleep(min(max($seconds), 60));
    return send($method, $url, $headers, $body, $timeout, $tries - 1);
}
