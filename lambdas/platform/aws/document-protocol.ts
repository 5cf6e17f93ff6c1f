import { AwsJson1_0Protocol } from '@aws-sdk/core/protocols';
import { type AttributeValue, type Item, readItem, writeItem, writeValue } from './attribute-values.ts';

/**
 * DynamoDB's protocol with items in place of attribute values: the text of a request is written straight from them, and an
 * answer is read into them. Errors, and operations that carry no items, are the SDK's own protocol's.
 *
 * The SDK builds a tree of attribute values first, walks it by its schema, and writes that: three times the work (ADR 25).
 */
export class DocumentProtocol extends AwsJson1_0Protocol {
  override async serializeRequest(...[operation, input, context]: SerializeArguments): Promise<HttpRequest> {
    const write = writers[operation.name];
    if (write === undefined) return super.serializeRequest(operation, input, context);
    const { protocol, hostname, port } = await context.endpoint();
    const body = write(input);
    return {
      protocol,
      hostname,
      ...(port && { port: Number(port) }),
      method: 'POST',
      path: '/',
      query: {},
      headers: {
        'content-type': 'application/x-amz-json-1.0',
        'content-length': String(Buffer.byteLength(body)),
        'x-amz-target': `${this.serviceTarget}.${operation.name}`,
      },
      body,
    } as HttpRequest;
  }

  override async deserializeResponse<Output extends { $metadata: object }>(
    ...[operation, context, response]: DeserializeArguments
  ): Promise<Output> {
    const read = readers[operation.name];
    if (read === undefined || response.statusCode >= 300) {
      return super.deserializeResponse(operation, context, response);
    }
    const isCollected = response.body instanceof Uint8Array;
    const body: Uint8Array = isCollected ? response.body : await context.streamCollector(response.body);
    const { buffer, byteOffset, byteLength } = body;
    const output = read(JSON.parse(Buffer.from(buffer, byteOffset, byteLength).toString())) as Item;
    return { ...output, $metadata: this.deserializeMetadata(response) } as unknown as Output;
  }
}

type SerializeArguments = Parameters<AwsJson1_0Protocol['serializeRequest']>;
type DeserializeArguments = Parameters<AwsJson1_0Protocol['deserializeResponse']>;
type HttpRequest = Awaited<ReturnType<AwsJson1_0Protocol['serializeRequest']>>;

/** Writes a part of a request as JSON. */
// biome-ignore lint/suspicious/noExplicitAny: each operation's table says which kind of value stands where
type Write = (value: any) => string;

/** Reads a part of an answer. */
// biome-ignore lint/suspicious/noExplicitAny: as above
type Read = (value: any) => unknown;

/** Writes a structure: members that are named as they are told, the others as JSON. */
function writeStructure(members: Readonly<Record<string, Write>>): Write {
  return function writeMembers(structure: Item) {
    const texts: string[] = [];
    for (const name in structure) {
      const value = structure[name];
      if (value === undefined) continue;
      const write = members[name] ?? JSON.stringify;
      texts.push(`"${name}":${write(value)}`);
    }
    return `{${texts.join(',')}}`;
  };
}

function writeList(write: Write): Write {
  return (values: readonly unknown[]) => `[${values.map(value => write(value)).join(',')}]`;
}

/** Writes what is kept by the names of tables. */
function writeByTable(write: Write): Write {
  return function writeTables(tables: Item) {
    const texts = Object.entries(tables).map(([table, value]) => `${JSON.stringify(table)}:${write(value)}`);
    return `{${texts.join(',')}}`;
  };
}

function readStructure(members: Readonly<Record<string, Read>>): Read {
  return function readMembers(structure: Item) {
    for (const name in members) {
      if (structure[name] != null) structure[name] = members[name]?.(structure[name]);
    }
    return structure;
  };
}

function readList(read: Read): Read {
  return (values: readonly unknown[]) => values.map(value => read(value));
}

function readByTable(read: Read): Read {
  return (tables: Item) => Object.fromEntries(Object.entries(tables).map(([table, value]) => [table, read(value)]));
}

const writeItemRequest = writeStructure({
  Item: writeItem,
  Key: writeItem,
  ExpressionAttributeValues: writeItem,
  ExclusiveStartKey: writeItem,
});

const writeWriteRequest = writeStructure({
  PutRequest: writeStructure({ Item: writeItem }),
  DeleteRequest: writeStructure({ Key: writeItem }),
});

/** The writers of the operations that stores use. */
const writers: Readonly<Record<string, Write | undefined>> = {
  GetItem: writeItemRequest,
  PutItem: writeItemRequest,
  UpdateItem: writeItemRequest,
  DeleteItem: writeItemRequest,
  Query: writeItemRequest,
  Scan: writeItemRequest,
  BatchGetItem: writeStructure({ RequestItems: writeByTable(writeStructure({ Keys: writeList(writeItem) })) }),
  BatchWriteItem: writeStructure({ RequestItems: writeByTable(writeList(writeWriteRequest)) }),
  BatchExecuteStatement: writeStructure({
    Statements: writeList(writeStructure({ Parameters: writeList(writeValue) })),
  }),
};

const read = (attributes: Readonly<Record<string, AttributeValue>>) => readItem(attributes);

const readItemAnswer = readStructure({ Item: read, Attributes: read, LastEvaluatedKey: read, Items: readList(read) });

const readWriteRequest = readStructure({
  PutRequest: readStructure({ Item: read }),
  DeleteRequest: readStructure({ Key: read }),
});

const readers: Readonly<Record<string, Read | undefined>> = {
  GetItem: readItemAnswer,
  PutItem: readItemAnswer,
  UpdateItem: readItemAnswer,
  DeleteItem: readItemAnswer,
  Query: readItemAnswer,
  Scan: readItemAnswer,
  BatchGetItem: readStructure({
    Responses: readByTable(readList(read)),
    UnprocessedKeys: readByTable(readStructure({ Keys: readList(read) })),
  }),
  BatchWriteItem: readStructure({ UnprocessedItems: readByTable(readList(readWriteRequest)) }),
  BatchExecuteStatement: readStructure({
    Responses: readList(readStructure({ Item: read, Error: readStructure({ Item: read }) })),
  }),
};
