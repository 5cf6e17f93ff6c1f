<?php
// Drives the two generated PHP clients: `php drive.php live|unknown`, with PHP_FOLDER. Prints each step that it has made.
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

$client = ['client_id' => getenv('CLIENT_ID'), 'client_secret' => getenv('CLIENT_SECRET')];
$tokens = new Auth\Api\TokensApi(config: (new Auth\Configuration())->setHost(getenv('AUTH_URL')));

function done(string $step, bool $holds): void
{
    if (!$holds) exit("$step: not as expected\n");
    echo "$step\n";
}

function configured(string $token): Api\Configuration
{
    return (new Api\Configuration())->setHost(getenv('BASE_URL'))->setAccessToken($token);
}

function log_in(): object
{
    global $tokens, $client;
    return $tokens->issueToken(...$client, grant_type: 'password', username: getenv('USERNAME'), password: getenv('PASSWORD'));
}

function refused(callable $call): mixed
{
    try {
        $call();
    } catch (Api\ApiException $error) {
        return $error->getResponseObject();
    }
    exit("not refused\n");
}

function live(): void
{
    global $tokens, $client;
    $first = log_in();
    done('log in', $first->getTokenType() === 'Bearer');
    $pair = $tokens->issueToken(...$client, grant_type: 'refresh_token', refresh_token: $first->getRefreshToken());
    done('refresh', $pair->getRefreshToken() !== $first->getRefreshToken());
    done('introspect', $tokens->introspectToken(...$client, token: $pair->getAccessToken())->getActive());
    $configuration = configured($pair->getAccessToken());
    $webhooks = new Api\Api\WebhooksApi(config: $configuration);
    $deliveries = new Api\Api\DeliveriesApi(config: $configuration);
    $replays = new Api\Api\ReplaysApi(config: $configuration);
    [$event, $delivered] = [Model\EventName::PROPOSTA_RECEBIDA, Model\EventName::DEMANDA_CRIADA];
    $webhook = $webhooks->registerWebhook(new Model\WebhookRegistration(['evento' => $event, 'url' => getenv('HOOK_URL')]));
    done('register', str_starts_with($webhook->getSegredo(), 'whsec_') && $webhook->getMotivoSuspensao() === null);
    $rotated = $webhooks->rotateSecret($event)->getSegredo();
    done('rotate', str_starts_with($rotated, 'whsec_') && $rotated !== $webhook->getSegredo());
    done('list', count($webhooks->listWebhooks()->getWebhooks()) === 2);
    $sent = $found = [];
    for ($i = 0; $i < 3; $i++) $sent[] = $deliveries->sendTest($event)->getId();
    done('test', count(array_unique($sent)) === 3);
    for ($i = 0, $cursor = null; $i < 10; $i++) {
        $page = $deliveries->listDeliveries($delivered, limite: 1, cursor: $cursor);
        foreach ($page->getEntregas() as $delivery) $found[] = $delivery->getId();
        $cursor = $page->getProximoCursor();
        if ($cursor === null) break;
    }
    done('page', array_diff(explode(',', getenv('DELIVERIES')), $found) === [] && count($found) === 3);
    // The generated client takes a DateTime in a body, and only text in a query: of whole seconds, so `now` would be before the latest.
    [$from, $to] = array_map(fn ($time) => (new DateTime($time))->format(DateTime::ATOM), ['-1 hour', '+1 minute']);
    $recent = $deliveries->listDeliveries($delivered, desde: $from, ate: $to);
    done('filter', count($recent->getEntregas()) === 3);
    $id = getenv('DELIVERY');
    $detail = $deliveries->getDelivery($delivered, $id);
    done('delivery', $detail->getEstado() === 'entregue' && $detail->getTentativas()[0]->getResultado() === 'entregue');
    done('resend', $deliveries->resendDelivery($delivered, $id)->getId() === $id);
    $span = new Model\ReplayRequest(['desde' => new DateTime('-1 hour'), 'ate' => new DateTime(), 'estado' => 'falhou']);
    $replay = $replays->startReplay($delivered, $span);
    done('replay', $replays->getReplay($delivered, $replay->getId())->getId() === $replay->getId());
    $replacement = new Model\WebhookReplacement(['url' => 'http://example.com']);
    $problem = refused(fn () => $webhooks->replaceWebhook($event, $replacement));
    done('422', $problem instanceof Model\ValidationProblem && $problem->getErrors()[0]->getCode() === 'url_not_https');
    $tokens->revokeToken(...$client, token: $pair->getRefreshToken());
    $problem = refused(fn () => $webhooks->listWebhooks());
    done('revoke', $problem instanceof Model\Problem && $problem->getCode() === 'invalid_token');
}

function unknown(): void
{
    global $tokens, $client;
    done('token', log_in()->getTokenType() === 'DPoP');
    done('introspection', $tokens->introspectToken(...$client, token: 'x')->getActive());
    $webhooks = new Api\Api\WebhooksApi(config: configured('x'));
    $webhook = $webhooks->listWebhooks()->getWebhooks()[0];
    $values = [$webhook->getEvento(), $webhook->getEstado(), $webhook->getMotivoSuspensao()];
    done('webhook', $values === ['pagamento.confirmado', 'arquivado', 'novo']);
    $event = Model\EventName::PROPOSTA_RECEBIDA;
    $delivery = (new Api\Api\DeliveriesApi(config: configured('x')))->listDeliveries($event)->getEntregas()[0];
    done('delivery', [$delivery->getEstado(), $delivery->getUltimoResultado()] === ['adiada', 'http3']);
    $problem = refused(fn () => $webhooks->getWebhook($event));
    done('problem', $problem instanceof Model\Problem && $problem->getCode() === 'novo_codigo');
    $replacement = new Model\WebhookReplacement(['url' => 'https://example.com']);
    $problem = refused(fn () => $webhooks->replaceWebhook($event, $replacement));
    done('422', $problem instanceof Model\ValidationProblem && $problem->getErrors()[0]->getCode() === 'nova_regra');
    $any = Api\ObjectSerializer::deserialize(json_decode(getenv('UNKNOWN_EVENT')), Model\Event::class);
    done('event', $any->getEvent() === 'pagamento.confirmado');
    $grown = Api\ObjectSerializer::deserialize(json_decode(getenv('GROWN_EVENT')), Model\EventPropostaRecebida::class);
    done('grown event', $grown->getIdProposta() === 20);
}

$argv[1]();
