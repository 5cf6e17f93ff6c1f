<?php
http_response_code(500); // holds if anything fails before the end: Emissor tries again

// The 32 bytes after each whsec_. Without them nothing is accepted: with an empty key, anybody can sign.
$keys = [];
foreach (explode(' ', (string) getenv('SEGREDO')) as $secret) {
    if (!preg_match('~^whsec_[A-Za-z0-9+/]{43}=$~D', $secret)) {
        error_log('Put the segredo of each webhook (whsec_...) into SEGREDO, separated by one space.');
        exit;
    }
    $keys[] = base64_decode(substr($secret, strlen('whsec_')));
}

// Accepts only what Emissor signed, within the last five minutes.
function is_authentic(array $keys, string $id, string $timestamp, string $signatures, string $body, int $now): bool
{
    if (!preg_match('~^[A-Za-z0-9_-]+$~D', $id) || !ctype_digit($timestamp) || abs($now - (int) $timestamp) > 300) {
        return false;
    }
    foreach ($keys as $key) {
        $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
        foreach (explode(' ', $signatures) as $signature) {
            if (hash_equals($expected, $signature)) { // in constant time
                return true;
            }
        }
    }
    return false;
}

$id = $_SERVER['HTTP_WEBHOOK_ID'] ?? '';
$timestamp = $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
$signatures = $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '';
$body = file_get_contents('php://input', false, null, 0, 65537); // the bytes as they arrived, before any json_decode
if (strlen($body) > 65536) {
    http_response_code(413);
    exit;
}
if (!is_authentic($keys, $id, $timestamp, $signatures, $body, time())) {
    http_response_code(400);
    exit;
}

// Stores once per webhook-id. In your system: an INSERT with a unique key.
@mkdir('events');
if (!file_exists("events/$id.json")) {
    $new = tempnam('events', 'new');
    if (file_put_contents($new, $body) !== strlen($body) || !rename($new, "events/$id.json")) {
        exit; // not stored: Emissor tries again
    }
    file_put_contents('php://stdout', "$id $body\n");
}
http_response_code(204);
