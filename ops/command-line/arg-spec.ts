import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import * as z from 'zod';

/** The specification of an argument or an option of a command line, which has a value. */
export interface ArgSpec<Value> {
  /** Adds it to a command, under the name of its value. */
  readonly addTo: (command: Command, name: string) => void;
  /** Returns its value once the command line is parsed. @param now - the present time. */
  readonly read: (command: Command, name: string, now: number) => Value;
}

/** The arguments and options of a command by the names of their values. An option is named after its value. */
export type ArgSpecs = Readonly<Record<string, ArgSpec<unknown>>>;

/** The values of arguments and options. A value whose type includes `undefined` may be missing. */
export type Given<Of extends ArgSpecs> = {
  readonly [Name in keyof Of as undefined extends ValueOf<Of[Name]> ? never : Name]: ValueOf<Of[Name]>;
} & {
  readonly [Name in keyof Of as undefined extends ValueOf<Of[Name]> ? Name : never]?: ValueOf<Of[Name]>;
};

type ValueOf<Of extends ArgSpec<unknown>> = ReturnType<Of['read']>;

/** The form of a value, with the error message for text of another form. */
type Form<Value> = z.ZodType<Value>;

/** Returns an optional option with a value. */
export function option<Value>(placeholder: string, description: string, form: Form<Value>): ArgSpec<Value | undefined>;
export function option<Value>(
  placeholder: string,
  description: string,
  form: Form<Value>,
  value: Value,
): ArgSpec<Value>;
export function option<Value>(placeholder: string, description: string, form: Form<Value>, value?: Value) {
  return optionSpec<Value | undefined>(placeholder, description, made => formed(made, form).default(value));
}

/** Returns a required option with a value. */
export function required<Value>(placeholder: string, description: string, form: Form<Value>): ArgSpec<Value> {
  return optionSpec<Value>(placeholder, description, made => formed(made, form).makeOptionMandatory());
}

/** Returns an option that may be repeated, each time with one of these values. If required, it occurs at least once. */
export function repeatable<Value extends string>(
  placeholder: string,
  description: string,
  choices: readonly Value[],
): ArgSpec<readonly Value[] | undefined> {
  return optionSpec<readonly Value[] | undefined>(placeholder, description, made => collecting(made, choices));
}
export function requiredRepeatable<Value extends string>(
  placeholder: string,
  description: string,
  choices: readonly Value[],
) {
  return optionSpec<readonly Value[]>(placeholder, description, made =>
    collecting(made, choices).makeOptionMandatory(),
  );
}

/** Returns an option without a value. @param implies - the options that this option includes. */
export function flag(description: string, implies: Readonly<Record<string, true>> = {}): ArgSpec<true | undefined> {
  return optionSpec<true | undefined>('', description, made => made.implies(implies));
}

/** Returns the option that removes the value of another option, such as `--no-account`. */
export function negation(of: string, description: string): ArgSpec<true | undefined> {
  return {
    addTo: command => void command.option(`--no-${kebab(of)}`, description),
    read: command => (command.getOptionValue(of) === false ? true : undefined),
  };
}

/** Returns an argument or option whose value depends on the present time. */
export function timed<Value>(spec: ArgSpec<(now: number) => Value>): ArgSpec<Value>;
export function timed<Value>(spec: ArgSpec<((now: number) => Value) | undefined>): ArgSpec<Value | undefined>;
export function timed<Value>({
  addTo,
  read,
}: ArgSpec<((now: number) => Value) | undefined>): ArgSpec<Value | undefined> {
  return { addTo, read: (command, name, now) => read(command, name, now)?.(now) };
}

export function argument<Value>(placeholder: string, description: string, form: Form<Value>): ArgSpec<Value> {
  return argumentSpec<Value>(`<${placeholder}>`, description, made => formed(made, form));
}

/** Returns an optional argument. */
export function optionalArgument<Value>(
  placeholder: string,
  description: string,
  form: Form<Value>,
): ArgSpec<Value | undefined> {
  return argumentSpec<Value | undefined>(`[${placeholder}]`, description, made => formed(made, form));
}

export function variadicArgument<Value>(
  placeholder: string,
  description: string,
  form: Form<Value>,
): ArgSpec<readonly Value[]> {
  const { addTo, read } = argumentSpec<readonly Value[] | undefined>(`[${placeholder}...]`, description, made =>
    made.argParser((text: string, before: readonly Value[] = []) => [...before, parse(form, text)]),
  );
  return { addTo, read: (...of) => read(...of) ?? [] };
}

/** The option `--json` of every command, which selects output for programs. */
export const jsonOutput: ArgSpec<boolean> = {
  addTo: () => {},
  read: command => command.optsWithGlobals().json === true,
};

function optionSpec<Value>(placeholder: string, description: string, adapt: (made: Option) => Option): ArgSpec<Value> {
  return {
    addTo: (command, name) => {
      command.addOption(adapt(new Option(`--${kebab(name)} ${placeholder}`.trim(), description)));
    },
    read: (command, name) => {
      const value = command.getOptionValue(name);
      return value === false ? undefined : value; // the command line contains its negation
    },
  };
}

function argumentSpec<Value>(flags: string, description: string, adapt: (made: Argument) => Argument): ArgSpec<Value> {
  const placeholder = new Argument(flags).name();
  return {
    addTo: command => void command.addArgument(adapt(new Argument(flags, description))),
    read: ({ registeredArguments, processedArgs }) =>
      processedArgs[registeredArguments.findIndex(made => made.name() === placeholder)],
  };
}

/** Adds a form to an option or an argument. Commander lists the choices in the help. */
function formed<Made extends Option | Argument>(made: Made, form: Form<unknown>): Made {
  if (form instanceof z.ZodEnum) made.choices(form.options.map(String));
  else made.argParser((text: string) => parse(form, text));
  return made;
}

function collecting(made: Option, choices: readonly string[]): Option {
  made.choices(choices);
  const check = made.parseArg;
  return made.argParser((text: string, before: readonly string[] | undefined) => {
    check?.(text, undefined); // rejects all values but the choices
    return [...(before ?? []), text];
  });
}

function parse<Value>(form: Form<Value>, text: string): Value {
  const { success, data, error } = form.safeParse(text);
  if (success) return data;
  throw new InvalidArgumentError(error.issues[0]?.message ?? 'It is not valid.');
}

function kebab(name: string): string {
  return name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`);
}
