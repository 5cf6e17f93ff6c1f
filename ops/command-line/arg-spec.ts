import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import * as z from 'zod';

/** Specifies an argument or an option of a command, and its value. */
export interface ArgSpec<Value> {
  /** Adds the argument or option to a command. @param name - the name of the value. */
  readonly addTo: (command: Command, name: string) => void;
  /** Returns the value from the parsed command line. @param now - the present time. */
  readonly read: (command: Command, name: string, now: number) => Value;
}

/** The arguments and options of a command, by the names of their values. The value `maxAge` has the option `--max-age`. */
export type ArgSpecs = Readonly<Record<string, ArgSpec<unknown>>>;

/** The values of arguments and options. A value may be missing if its type includes `undefined`. */
export type ParsedArgs<Of extends ArgSpecs> = {
  readonly [Name in keyof Of as undefined extends ValueOf<Of[Name]> ? never : Name]: ValueOf<Of[Name]>;
} & {
  readonly [Name in keyof Of as undefined extends ValueOf<Of[Name]> ? Name : never]?: ValueOf<Of[Name]>;
};

type ValueOf<Of extends ArgSpec<unknown>> = ReturnType<Of['read']>;

/** The schema of a value, with the error message for invalid text. */
type Form<Value> = z.ZodType<Value>;

/** Creates an option that takes a value and may be omitted. */
export function option<Value>(placeholder: string, description: string, form: Form<Value>): ArgSpec<Value | undefined>;
export function option<Value>(
  placeholder: string,
  description: string,
  form: Form<Value>,
  value: Value,
): ArgSpec<Value>;
export function option<Value>(placeholder: string, description: string, form: Form<Value>, value?: Value) {
  return optionSpec<Value | undefined>(placeholder, description, param => formed(param, form).default(value));
}

/** Creates a required option that takes a value. */
export function required<Value>(placeholder: string, description: string, form: Form<Value>): ArgSpec<Value> {
  return optionSpec<Value>(placeholder, description, param => formed(param, form).makeOptionMandatory());
}

/** Creates a repeatable option. Each value must be one of the choices. */
export function repeatable<Value extends string>(
  placeholder: string,
  description: string,
  choices: readonly Value[],
): ArgSpec<readonly Value[] | undefined> {
  return optionSpec<readonly Value[] | undefined>(placeholder, description, param => collecting(param, choices));
}
export function requiredRepeatable<Value extends string>(
  placeholder: string,
  description: string,
  choices: readonly Value[],
) {
  return optionSpec<readonly Value[]>(placeholder, description, param =>
    collecting(param, choices).makeOptionMandatory(),
  );
}

/** Creates an option without a value. @param implies - the other options that this option sets. */
export function flag(description: string, implies: Readonly<Record<string, true>> = {}): ArgSpec<true | undefined> {
  return optionSpec<true | undefined>('', description, param => param.implies(implies));
}

/** Creates the option that negates another option, such as `--no-account`. */
export function negation(of: string, description: string): ArgSpec<true | undefined> {
  return {
    addTo: command => void command.option(`--no-${kebab(of)}`, description),
    read: command => (command.getOptionValue(of) === false ? true : undefined),
  };
}

/** Creates an argument or option with a value that depends on the present time. */
export function timed<Value>(spec: ArgSpec<(now: number) => Value>): ArgSpec<Value>;
export function timed<Value>(spec: ArgSpec<((now: number) => Value) | undefined>): ArgSpec<Value | undefined>;
export function timed<Value>({
  addTo,
  read,
}: ArgSpec<((now: number) => Value) | undefined>): ArgSpec<Value | undefined> {
  return { addTo, read: (command, name, now) => read(command, name, now)?.(now) };
}

export function argument<Value>(placeholder: string, description: string, form: Form<Value>): ArgSpec<Value> {
  return argumentSpec<Value>(`<${placeholder}>`, description, param => formed(param, form));
}

/** Creates an argument that may be omitted. */
export function optionalArgument<Value>(
  placeholder: string,
  description: string,
  form: Form<Value>,
): ArgSpec<Value | undefined> {
  return argumentSpec<Value | undefined>(`[${placeholder}]`, description, param => formed(param, form));
}

export function variadicArgument<Value>(
  placeholder: string,
  description: string,
  form: Form<Value>,
): ArgSpec<readonly Value[]> {
  const { addTo, read } = argumentSpec<readonly Value[] | undefined>(`[${placeholder}...]`, description, param =>
    param.argParser((text: string, before: readonly Value[] = []) => [...before, parse(form, text)]),
  );
  return { addTo, read: (...of) => read(...of) ?? [] };
}

/** The value of the global option `--json`, which selects output for programs. */
export const jsonOutput: ArgSpec<boolean> = {
  addTo: () => {},
  read: command => command.optsWithGlobals().json === true,
};

function optionSpec<Value>(placeholder: string, description: string, adapt: (param: Option) => Option): ArgSpec<Value> {
  return {
    addTo: (command, name) => {
      command.addOption(adapt(new Option(`--${kebab(name)} ${placeholder}`.trim(), description)));
    },
    read: (command, name) => {
      const value = command.getOptionValue(name);
      return value === false ? undefined : value; // the command line negates the option
    },
  };
}

function argumentSpec<Value>(flags: string, description: string, adapt: (param: Argument) => Argument): ArgSpec<Value> {
  const placeholder = new Argument(flags).name();
  return {
    addTo: command => void command.addArgument(adapt(new Argument(flags, description))),
    read: ({ registeredArguments, processedArgs }) =>
      processedArgs[registeredArguments.findIndex(param => param.name() === placeholder)],
  };
}

/** Adds a schema to an option or an argument. Commander lists the choices in the help. */
function formed<Param extends Option | Argument>(param: Param, form: Form<unknown>): Param {
  if (form instanceof z.ZodEnum) param.choices(form.options.map(String));
  else param.argParser((text: string) => parse(form, text));
  return param;
}

function collecting(param: Option, choices: readonly string[]): Option {
  param.choices(choices);
  const check = param.parseArg;
  return param.argParser((text: string, before: readonly string[] | undefined) => {
    check?.(text, undefined); // rejects values that are not choices
    return [...(before ?? []), text];
  });
}

function parse<Value>(form: Form<Value>, text: string): Value {
  const { success, data, error } = form.safeParse(text);
  if (success) return data;
  throw new InvalidArgumentError(error.issues[0]?.message ?? 'The value is invalid.');
}

function kebab(name: string): string {
  return name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`);
}
