import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';

// Decodes the 32 bytes after whsec_. Fails without a secret, because anyone can sign with an empty key.
const secrets = (process.env.SEGREDO ?? '').split(' ');
if (!secrets.every(secret => /^whsec_[A-Za-z0-9+/]{43}=$/.test(secret))) {
  throw new Error('Put the segredo of each webhook (whsec_...) into SEGREDO, separated by one space.');
}
const keys = secrets.map(secret => Buffer.from(secret.slice('whsec_'.length), 'base64'));

// Returns the reason to reject a request, or undefined if Emissor signed it within the last five minutes.
function rejectionReason(id, timestamp, signatures, body, now) {
  if (!/^[A-Za-z0-9_-]+$/.test(id)) return 'webhook-id is missing or malformed';
  if (!/^[0-9]{1,12}$/.test(timestamp)) return 'webhook-timestamp is missing or malformed';
  if (Math.abs(now - timestamp) > 300) return 'webhook-timestamp differs from this clock by more than 300 seconds';
  if (signatures === '') return 'webhook-signature is missing';
  const candidates = signatures.split(' ').map(signature => Buffer.from(signature));
  const isAuthentic = keys.some(key => {
    const mac = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64');
    const expected = Buffer.from(`v1,${mac}`);
    return candidates.some(one => one.length === expected.length && timingSafeEqual(one, expected)); // in constant time
  });
  return isAuthentic ? undefined : 'no signature matches: check that SEGREDO contains the segredo of this webhook';
}

async function receive(request) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size <= 65_536) chunks.push(chunk);
  }
  if (size > 65_536) return reject(413, 'the body is larger than 64 KiB');
  const body = Buffer.concat(chunks); // the bytes as they arrived
  const { headers } = request;
  const id = headers['webhook-id'] ?? '';
  const timestamp = headers['webhook-timestamp'] ?? '';
  const signatures = headers['webhook-signature'] ?? '';
  const reason = rejectionReason(id, timestamp, signatures, body, Date.now() / 1000);
  if (reason) return reject(400, reason);
  // Stores each webhook-id once. In your system, use an INSERT with a unique key.
  if (!existsSync(`events/${id}.json`)) {
    const newFile = `events/new${randomUUID()}`;
    writeFileSync(newFile, body);
    renameSync(newFile, `events/${id}.json`); // only complete files have this name
    console.log(id, body.toString());
  }
  return 204;
}

function reject(status, reason) {
  console.error(`${status}: ${reason}`);
  return status;
}

mkdirSync('events', { recursive: true });
const limits = { requestTimeout: 15_000, connectionsCheckingInterval: 1_000 }; // the body must arrive in time
createServer(limits, (request, response) => {
  receive(request)
    .catch(error => reject(500, error.code ?? error.name)) // the event is not stored, so Emissor will retry
    .then(status => response.writeHead(status).end());
}).listen(8080, '127.0.0.1');
