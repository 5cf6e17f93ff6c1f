import { AwsJson1_0Protocol } from '@aws-sdk/core/protocols';

type Protocol = InstanceType<typeof AwsJson1_0Protocol>;
type Serialize = Protocol['serializeRequest'];
type Deserialize = Protocol['deserializeResponse'];

/**
 * Writes and reads DynamoDB's JSON as it is. The SDK's protocol walks each value by the schema of its operation, though the document
 * client has already marshalled it: a sixth of a call's processor time (ADR 25). Errors are read by the SDK.
 *
 * Only for operations on items, and with a request handler that returns the body in one piece (`request-handler.ts`).
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.LowLevelAPI.html
 */
export class ItemProtocol extends AwsJson1_0Protocol {
  override async serializeRequest(...[{ name }, input, context]: Parameters<Serialize>): ReturnType<Serialize> {
    const headers = { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': `${this.serviceTarget}.${name}` };
    const body = JSON.stringify(input, encodeBinary);
    const request = { method: 'POST', protocol: '', hostname: '', path: '/', query: {}, headers, body };
    return this.updateServiceEndpoint(request, await context.endpoint());
  }

  override async deserializeResponse(...[operation, context, response]: Parameters<Deserialize>) {
    if (response.statusCode !== 200) return super.deserializeResponse(operation, context, response);
    const text = String(response.body);
    const output = JSON.parse(text, text.includes('"B":') ? decodeBinary : undefined);
    return { ...output, $metadata: this.deserializeMetadata(response) };
  }
}

/** Bytes are base64 on the wire. A `Buffer` has a form of its own in JSON, so the value is read from its holder. */
function encodeBinary(this: Record<string, unknown>, name: string, value: unknown): unknown {
  const bytes = this[name];
  return bytes instanceof Uint8Array ? Buffer.from(bytes).toString('base64') : value;
}

/** An attribute that is called "B" has an object as its value, never a text. */
function decodeBinary(name: string, value: unknown): unknown {
  return name === 'B' && typeof value === 'string' ? new Uint8Array(Buffer.from(value, 'base64')) : value;
}
