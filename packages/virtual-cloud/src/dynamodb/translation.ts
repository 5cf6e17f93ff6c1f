import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { NativeAttributeValue, TranslateConfig } from '@aws-sdk/lib-dynamodb';
import { convertToAttr, convertToNative } from '@aws-sdk/util-dynamodb';
import { admitted, released } from './admission.ts';
import type { Attributes } from './attribute-values.ts';

/** An item, or a part of one, in JavaScript's own values. */
export type NativeItem = Record<string, NativeAttributeValue>;

/** What translates between JavaScript's values and DynamoDB's. */
export type Translation = ReturnType<typeof makeTranslation>;

/** Makes a translation that does as the document client does with the same settings. What it returns shares nothing with what it is given. */
export function makeTranslation({ marshallOptions, unmarshallOptions }: TranslateConfig = {}) {
  return { attributes, value, native };

  /** Like the document client, it leaves out attributes that are `undefined`, whatever the settings. */
  function attributes(item: NativeItem = {}): Record<string, AttributeValue> {
    const translated: Record<string, AttributeValue> = {};
    for (const [name, each] of Object.entries(item)) {
      if (each !== undefined && typeof each !== 'function') translated[name] = value(each);
    }
    return translated;
  }

  function value(each: NativeAttributeValue): AttributeValue {
    return admitted(convertToAttr(each, marshallOptions));
  }

  function native(item: Attributes): NativeItem {
    const translated: NativeItem = {};
    for (const [name, each] of Object.entries(item)) {
      translated[name] = convertToNative(released(each), unmarshallOptions);
    }
    return translated;
  }
}
