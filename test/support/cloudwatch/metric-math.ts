/** The values of a series, period by period; `undefined` where there is none. */
export type Series = readonly (number | undefined)[];

/**
 * Evaluates the part of CloudWatch's metric math that the templates use, and refuses every other. Where CloudWatch's documentation leaves
 * open what becomes of a series without any value, nothing comes of it: `FILL` of it is empty too.
 *
 * @param series - by the ids that the expression uses, all of one length.
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html
 */
export function evaluate(expression: string, series: Readonly<Record<string, Series>>): Series {
  const { length } = Object.values(series)[0] ?? [];
  const tokens = expression.match(/\d+(?:\.\d+)?|[A-Za-z]\w*|>=|<=|[-+*/(),<>]/g) ?? [];
  if (tokens.join('') !== expression.replaceAll(' ', '')) throw refused(expression);
  let at = 0;
  const result = parseOperators(0);
  if (at < tokens.length) throw refused(tokens[at]);
  return result;

  function parseOperators(level: number): Series {
    const operators = levels[level];
    if (!operators) return parseOperand();
    let left = parseOperators(level + 1);
    for (let by = operators[tokens[at] ?? '']; by; by = operators[tokens[at] ?? '']) {
      at += 1;
      left = combine(left, parseOperators(level + 1), by);
    }
    return left;
  }

  function parseOperand(): Series {
    const token = tokens[at++] ?? '';
    if (token === '-') return parseOperand().map(value => (value === undefined ? undefined : -value));
    if (/^\d/.test(token)) return constant(Number(token));
    if (token === '(') {
      const inner = parseOperators(0);
      take(')');
      return inner;
    }
    const known = series[token];
    if (known) return known;
    const apply = Object.hasOwn(functions, token) ? functions[token] : undefined;
    if (!apply) throw refused(token);
    take('(');
    const parameters = [parseOperators(0)];
    while (tokens[at] === ',') {
      at += 1;
      parameters.push(parseOperators(0));
    }
    take(')');
    return apply(parameters);
  }

  function take(token: string): void {
    if (tokens[at++] !== token) throw refused(tokens[at - 1]);
  }

  function constant(value: number): Series {
    return Array.from({ length: length ?? 0 }, () => value);
  }
}

type Operator = (one: number, other: number) => number;

/** The operators, those that bind the least first. */
const levels: readonly Readonly<Record<string, Operator | undefined>>[] = [
  { '>=': (one, other) => Number(one >= other) },
  { '-': (one, other) => one - other },
  { '/': (one, other) => one / other },
];

const functions: Readonly<Record<string, (parameters: readonly Series[]) => Series>> = {
  FILL: parameters => {
    const [filled, by] = ofLength(parameters, 2);
    return isEmpty(filled) ? filled : filled.map((value, at) => value ?? by[at]);
  },
  IF: parameters => {
    const [condition, then, otherwise] = ofLength(parameters, 3);
    return condition.map((value, at) => (value === undefined ? undefined : (value === 0 ? otherwise : then)[at]));
  },
};

/** A value comes of two values only, and a division by zero is none. */
function combine(one: Series, other: Series, by: Operator): Series {
  return one.map((value, at) => {
    const second = other[at];
    const result = value === undefined || second === undefined ? undefined : by(value, second);
    return Number.isFinite(result) ? result : undefined;
  });
}

function isEmpty(series: Series): boolean {
  return series.every(value => value === undefined);
}

function ofLength(parameters: readonly Series[], length: number): [Series, Series, Series] {
  if (parameters.length !== length) throw refused(`${parameters.length} parameters`);
  return parameters as unknown as [Series, Series, Series];
}

function refused(what: string | undefined): Error {
  return new Error(`This is no metric math that the tests know: ${what}`);
}
