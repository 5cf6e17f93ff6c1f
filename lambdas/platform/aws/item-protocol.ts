import { AwsJson1_0Protocol } from '@aws-sdk/core/protocols';

type Protocol = InstanceType<typeof AwsJson1_0Protocol>;
type Serialize = Protocol['serializeRequest'];
type Deserialize = Protocol['deserializeResponse'];

/**
 * Serializes DynamoDB requests and responses as plain JSON, because the document client has already marshalled the values. The SDK's own
 * protocol also processes each value according to the operation's schema, which takes a sixth of the CPU time of a call (ADR 25). For errors,
 * this class uses the SDK's protocol.
 *
 * This class supports only item operations and a request handler that returns the body as one buffer (`request-handler.ts`).
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

/** Encodes bytes as base64. Reads the original value from `this`, because `Buffer.toJSON` has already converted `value`. */
function encodeBinary(this: Record<string, unknown>, name: string, value: unknown): unknown {
  const bytes = this[name];
  return bytes instanceof Uint8Array ? Buffer.from(bytes).toString('base64') : value;
}

/** Decodes base64. A string named "B" is always binary data, because the value of an attribute named "B" is an object. */
function decodeBinary(name: string, value: unknown): unknown {
  return name === 'B' && typeof value === 'string' ? new Uint8Array(Buffer.from(value, 'base64')) : value;
}
