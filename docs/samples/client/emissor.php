<?php
/** Calls the API; once more, with another token, where the stored one is refused. */
function call(string $method, string $path, ?string $body = null): array
{
    $headers = fn (#[SensitiveParameter] string $token): array => ["Authorization: Bearer $token", 'Content-Type: application/json'];
    $token = validToken();
    $answer = send($method, getenv('BASE_URL') . $path, $headers($token), $body);
    return $answer['status'] === 401 ? send($method, getenv('BASE_URL') . $path, $headers(validToken($token)), $body) : $answer;
}

/** Returns the stored token unless it was refused. Processes that need another wait at the file. */
function validToken(#[SensitiveParameter] ?string $refused = null): string
{
    $path = getenv('TOKENS_FILE') ?: throw new RuntimeException('TOKENS_FILE is not set');
    $root = empty($_SERVER['DOCUMENT_ROOT']) ? false : realpath($_SERVER['DOCUMENT_ROOT']); // false: not on this machine
    if ($root !== false && str_starts_with(realpath(dirname($path)) . DIRECTORY_SEPARATOR, rtrim($root, '/\\') . DIRECTORY_SEPARATOR)) {
        throw new RuntimeException('TOKENS_FILE is below DOCUMENT_ROOT, where anybody can fetch it: move it out of there');
    }
    $asked = microtime(true);
    $owner = getenv('AUTH_URL') . ' ' . getenv('CLIENT_ID') . ' ' . getenv('USER_EMAIL'); // tokens of another are not used
    $mask = umask(0077); // that of the whole process: it is put back at once
    $file = @fopen($path, 'c+');
    umask($mask);
    flock($file ?: throw new RuntimeException("TOKENS_FILE cannot be opened: $path"), LOCK_EX);
    try {
        $pair = json_decode(stream_get_contents($file), true)[$owner] ?? [];
        if (($pair['refused_until'] ?? 0) > time()) {
            throw new RuntimeException('The login was refused: mend the password and delete ' . $path);
        }
        $asked < ($pair['failed_at'] ?? 0) && $pair['failed_at'] <= microtime(true) && throw new RuntimeException('There is no token: another call got none'); // that it waited for
        $pair = in_array($pair['access_token'] ?? null, [null, $refused], true) ? renew($pair, $file, $owner) : $pair;
        return $pair['access_token'] ?? throw new RuntimeException('There is no token: ' . ($pair['error'] ?? 'another answered in place of the service'));
    } finally {
        fclose($file);
    }
}

function renew(#[SensitiveParameter] array $pair, mixed $file, string $owner): array
{
    $now = microtime(true);
    $pair += ['refresh_until' => $now + (in_array($seconds = getenv('REFRESH_SECONDS'), [false, ''], true) ? 25 : $seconds)];
    store([$owner => $pair], $file); // before the refresh token is sent: no later call may send it after that
    $fresh = isset($pair['refresh_token']) && $now <= $pair['refresh_until']
        ? grant(['grant_type' => 'refresh_token', 'refresh_token' => $pair['refresh_token']], $pair['refresh_until'])
        : ['error' => 'invalid_grant'];
    if (in_array($fresh['error'] ?? null, ['invalid_grant', 'unauthorized_client'])) {
        // The session is over, or may not be refreshed: one login, and no loop.
        $fresh = grant(['grant_type' => 'password', 'username' => getenv('USER_EMAIL'), 'password' => getenv('USER_PASSWORD')]);
    }
    $kept = ($fresh['error'] ?? null) === 'invalid_grant' ? ['refused_until' => time() + 900] : $pair;
    store([$owner => isset($fresh['access_token']) ? $fresh : ['failed_at' => microtime(true)] + $kept], $file); // before anybody uses it
    return $fresh;
}

function store(#[SensitiveParameter] array $pairs, mixed $file): void
{
    $text = json_encode($pairs);
    rewind($file);
    fwrite($file, $text) === strlen($text) && ftruncate($file, strlen($text)) && fsync($file) ?: throw new RuntimeException('The tokens could not be stored');
}

/** Repeats a request that failed or whose answer was lost. A refresh token that is sent again after 30 seconds counts as stolen. */
function grant(#[SensitiveParameter] array $form, float $until = INF, int $tries = 1): array
{
    $form += ['client_id' => getenv('CLIENT_ID'), 'client_secret' => getenv('CLIENT_SECRET')];
    ['status' => $status, 'json' => $json, 'wait' => $wait] = send('POST', getenv('AUTH_URL') . '/oauth/v1/token', ['Content-Type: application/x-www-form-urlencoded'], http_build_query($form), 8, 1);
    if ($status < 500 && $wait === 0 && $json !== null || $tries === 4) {
        return $json ?? ['error' => 'no answer'];
    }
    sleep(max($wait, $tries)); // before a login, too
    return microtime(true) < $until ? grant($form, $until, $tries + 1) : ['error' => 'invalid_grant'];
}

/** Repeats a request that is answered 429 or 503, after the time that the answer asks for, a minute at most. Status 0: no whole answer came. */
function send(string $method, string $url, #[SensitiveParameter] array $headers, #[SensitiveParameter] ?string $body, int $timeout = 30, int $tries = 5): array
{
    $options = ['method' => $method, 'header' => $headers, 'content' => $body, 'timeout' => $timeout, 'ignore_errors' => true, 'follow_location' => 0];
    $text = @file_get_contents($url, false, stream_context_create(['http' => $options]));
    function_exists('http_get_last_response_headers') && $http_response_header = http_get_last_response_headers(); // PHP 8.4 and newer
    $lines = $text === false ? [''] : $http_response_header;
    $status = (int) substr($lines[0], 9, 3);
    $wait = in_array($status, [429, 503]) ? min(max(array_map(fn (string $line): int => sscanf(strtolower($line), 'retry-after: %d')[0] ?? 1, $lines)), 60) : 0;
    $json = json_decode((string) $text, true);
    $isCut = intdiv($status, 100) === 2 && $status !== 204 && $method !== 'HEAD' && $json === null;
    if ($wait === 0 || $tries === 1) {
        return ['status' => $isCut ? 0 : $status, 'json' => $json, 'wait' => $wait];
    }
    sleep($wait);
    return send($method, $url, $headers, $body, $timeout, $tries - 1);
}
