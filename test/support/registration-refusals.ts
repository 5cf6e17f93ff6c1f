/** The findings about a registration that is right but for these changes: `pointer code` of each, sorted. */
export const registrationFindings: readonly [changes: object, findings: readonly string[]][] = [
  [{ evento: 'demanda.inventada' }, ['/evento unknown_event']],
  [{ evento: 'Demanda.Criada' }, ['/evento unknown_event']],
  [{ evento: 'demanda.criada ' }, ['/evento unknown_event']],
  [{ evento: '' }, ['/evento unknown_event']],
  [{ evento: 1 }, ['/evento unknown_event']],
  [{ evento: null }, ['/evento unknown_event']],
  [{ evento: undefined }, ['/evento required']],
  [{ url: undefined }, ['/url required']],
  [{ url: 1 }, ['/url wrong_type']],
  [{ url: null }, ['/url wrong_type']],
  ...['', ' ', ' a', 'a ', 'a\nb', 'a\r\nX: y', 'a\tb', 'ã', '\u007f', '~'.repeat(2_049)].map(
    (autorizacao): [object, string[]] => [{ autorizacao }, ['/autorizacao invalid_value']],
  ),
  [{ autorizacao: 1 }, ['/autorizacao wrong_type']],
  [{ autorizacao: ['x'] }, ['/autorizacao wrong_type']],
  [{ autorizaçao: 'x' }, ['/autorizaçao unknown_field']],
  [{ 'a/b~c': 1, segredo: 'x' }, ['/a~1b~0c unknown_field', '/segredo unknown_field']],
  [
    { evento: 'x', url: 'http://localhost/', autorizacao: '', outro: 1 },
    [
      '/autorizacao invalid_value',
      '/evento unknown_event',
      '/outro unknown_field',
      '/url url_not_https',
      '/url url_not_public',
    ],
  ],
];
