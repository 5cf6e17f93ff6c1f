<?php
http_response_code(500); // the default status, so Emissor retries if the script fails

// Decodes the 32 bytes after whsec_. Fails without a secret, because anyone can sign with an empty key.
$keys = [];
foreach (explode(' ', (string) getenv('SEGREDO')) as $secret) {
    if (!preg_match('~^whsec_[A-Za-z0-9+/]{43}=$~D', $secret)) {
        error_log('Put the segredo of each webhook (whsec_...) into SEGREDO, separated by one space.');
        exit;
    }
    $keys[] = base64_decode(substr($secret, strlen('whsec_')));
}

// Returns the reason to reject a request, or null if Emissor signed it within the last five minutes.
function rejectionReason(array $keys, string $id, string $timestamp, string $signatures, string $body, int $now): ?string
{
    if (!preg_match('~^[A-Za-z0-9_-]+$~D', $id)) return 'webhook-id is missing or malformed';
    if (!ctype_digit($timestamp)) return 'webhook-timestamp is missing or malformed';
    if (abs($now - (int) $timestamp) > 300) return 'webhook-timestamp differs from this clock by more than 300 seconds';
    if ($signatures === '') return 'webhook-signature is missing';
    foreach ($keys as $key) {
        $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
        foreach (explode(' ', $signatures) as $signature) {
            if (hash_equals($expected, $signature)) { // in constant time
                return null;
            }
        }
    }
    return 'no signature matches: check that SEGREDO contains the segredo of this webhook';
}

function reject(int $status, string $reason): void
{
    error_log("$status: $reason");
    http_response_code($status);
    exit;
}

$id = $_SERVER['HTTP_WEBHOOK_ID'] ?? '';
$timestamp = $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
$signatures = $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '';
$body = file_get_contents('php://input', false, null, 0, 65537); // the bytes as they arrived, before any json_decode
if (strlen($body) > 65536) reject(413, 'the body is larger than 64 KiB');
$reason = rejectionReason($keys, $id, $timestamp, $signatures, $body, time());
if ($reason !== null) reject(400, $reason);

// Stores each webhook-id once. In your system, use an INSERT with a unique key.
@mkdir('events');
if (!file_exists("events/$id.json")) {
    $new = 'events/new' . bin2hex(random_bytes(16));
    if (file_put_contents($new, $body) !== strlen($body) || !rename($new, "events/$id.json")) {
        reject(500, 'Could not write to the folder events'); // Emissor will retry
    }
    file_put_contents('php://stdout', "$id $body\n");
}
http_response_code(204);
