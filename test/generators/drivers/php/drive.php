<?php
// Logs in, registers, rotates and filters with the two generated PHP clients: `php drive.php live|later`, with PHP_FOLDER. Prints each
// step that it has made.
// Their `composer.json` needs Guzzle alone, which Debian has; this does what Composer's autoloader would do.

use Emissor\Auth;
use Emissor\Webhooks as Api;
use Emissor\Webhooks\Model;

require 'GuzzleHttp/autoload.php';
spl_autoload_register(function (string $class) {
    [$vendor, $client, $rest] = explode('\\', $class, 3) + ['', '', ''];
    $file = getenv('PHP_FOLDER') . '/' . strtolower($client) . '/lib/' . str_replace('\\', '/', $rest) . '.php';
    if ($vendor === 'Emissor') require $file;
});
set_error_handler(fn ($level, $text) => throw new ErrorException($text)); // warnings count, too
error_reporting(E_ALL & ~E_DEPRECATED);

function done(string $step, bool $holds): void
{
    if (!$holds) exit("$step: not as expected\n");
    echo "$step\n";
}

function log_in(): object
{
    $tokens = new Auth\Api\TokensApi(config: (new Auth\Configuration())->setHost(getenv('AUTH_URL')));
    return $tokens->issueToken(
        grant_type: 'password', username: getenv('USERNAME'), password: getenv('PASSWORD'),
        client_id: getenv('CLIENT_ID'), client_secret: getenv('CLIENT_SECRET'),
    );
}

function configured(string $token): Api\Configuration
{
    return (new Api\Configuration())->setHost(getenv('BASE_URL'))->setAccessToken($token);
}

function live(): void
{
    $login = log_in();
    done('log in', $login->getTokenType() === 'Bearer');
    $configuration = configured($login->getAccessToken());
    $webhooks = new Api\Api\WebhooksApi(config: $configuration);
    $deliveries = new Api\Api\DeliveriesApi(config: $configuration);
    $event = Model\EventName::PROPOSTA_RECEBIDA;
    $webhook = $webhooks->registerWebhook(new Model\WebhookRegistration(['evento' => $event, 'url' => getenv('HOOK_URL')]));
    done('register', str_starts_with($webhook->getSegredo(), 'whsec_') && $webhook->getMotivoSuspensao() === null);
    $rotated = $webhooks->rotateSecret($event)->getSegredo();
    done('rotate', str_starts_with($rotated, 'whsec_') && $rotated !== $webhook->getSegredo());
    // The generated client takes a DateTime in a body, and only text in a query: of whole seconds, so `now` would be before the latest.
    [$from, $to] = array_map(fn ($time) => (new DateTime($time))->format(DateTime::ATOM), ['-1 hour', '+1 minute']);
    $recent = $deliveries->listDeliveries(Model\EventName::DEMANDA_CRIADA, desde: $from, ate: $to);
    done('filter', count($recent->getEntregas()) === 3);
}

function later(): void
{
    $webhook = (new Api\Api\WebhooksApi(config: configured('x')))->listWebhooks()->getWebhooks()[0];
    $values = [$webhook->getEvento(), $webhook->getEstado(), $webhook->getMotivoSuspensao()];
    done('webhook', $values === ['pagamento.confirmado', 'arquivado', 'novo']);
    $any = Api\ObjectSerializer::deserialize(json_decode(getenv('UNKNOWN_EVENT')), Model\Event::class);
    done('event', $any->getEvent() === 'pagamento.confirmado');
}

$argv[1]();
