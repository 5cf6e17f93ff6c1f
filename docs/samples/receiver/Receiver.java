import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public class Receiver {
    static List<byte[]> keys;

    public static void main(String[] args) throws IOException {
        keys = Stream.of(Objects.requireNonNullElse(System.getenv("SEGREDO"), "").split(" ", -1)).map(Receiver::keyOf).toList();
        System.setProperty("sun.net.httpserver.maxReqTime", "15"); // the maximum seconds until the body is complete
        Files.createDirectories(Path.of("events"));
        var server = HttpServer.create(new InetSocketAddress("127.0.0.1", 8080), 0);
        server.setExecutor(Executors.newCachedThreadPool());
        server.createContext("/", exchange -> {
            int status;
            try {
                status = receive(exchange);
            } catch (Throwable error) {
                status = reject(500, error.getClass().getName()); // the event is not stored, so Emissor will retry
            }
            exchange.sendResponseHeaders(status, -1);
            exchange.close();
        });
        server.start();
    }

    static int receive(HttpExchange exchange) throws IOException, GeneralSecurityException {
        var headers = exchange.getRequestHeaders();
        var id = Objects.requireNonNullElse(headers.getFirst("webhook-id"), "");
        var timestamp = Objects.requireNonNullElse(headers.getFirst("webhook-timestamp"), "");
        var signatures = Objects.requireNonNullElse(headers.getFirst("webhook-signature"), "");
        var body = exchange.getRequestBody().readNBytes(65_537); // the bytes as they arrived
        if (body.length > 65_536) return reject(413, "the body is larger than 64 KiB");
        var reason = rejectionReason(id, timestamp, signatures, body, Instant.now().getEpochSecond());
        if (reason != null) return reject(400, reason);
        // Stores each webhook-id once. In your system, use an INSERT with a unique key.
        var file = Path.of("events", id + ".json");
        if (!Files.exists(file)) {
            var newFile = Files.write(Files.createTempFile(Path.of("events"), "new", ""), body);
            Files.move(newFile, file); // only complete files have this name
            System.out.println(id + " " + new String(body, StandardCharsets.UTF_8));
        }
        return 204;
    }

    static int reject(int status, String reason) {
        System.err.println(status + ": " + reason);
        return status;
    }

    // Decodes the 32 bytes after whsec_. Fails without a secret, because anyone can sign with an empty key.
    static byte[] keyOf(String secret) {
        if (!secret.matches("whsec_[A-Za-z0-9+/]{43}=")) {
            throw new IllegalStateException("Put the segredo of each webhook (whsec_...) into SEGREDO, separated by one space.");
        }
        return Base64.getDecoder().decode(secret.substring("whsec_".length()));
    }

    // Returns the reason to reject a request, or null if Emissor signed it within the last five minutes.
    static String rejectionReason(String id, String timestamp, String signatures, byte[] body, long now)
            throws GeneralSecurityException {
        if (!id.matches("[A-Za-z0-9_-]+")) return "webhook-id is missing or malformed";
        if (!timestamp.matches("[0-9]{1,12}")) return "webhook-timestamp is missing or malformed";
        if (Math.abs(now - Long.parseLong(timestamp)) > 300) return "webhook-timestamp differs from this clock by more than 300 seconds";
        if (signatures.isEmpty()) return "webhook-signature is missing";
        for (var key : keys) {
            var mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            mac.update((id + "." + timestamp + ".").getBytes(StandardCharsets.UTF_8));
            var expected = "v1," + Base64.getEncoder().encodeToString(mac.doFinal(body));
            for (var signature : signatures.split(" ")) {
                // in constant time
                if (MessageDigest.isEqual(expected.getBytes(StandardCharsets.UTF_8), signature.getBytes(StandardCharsets.UTF_8))) {
                    return null;
                }
            }
        }
        return "no signature matches: check that SEGREDO contains the segredo of this webhook";
    }
}
