import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.*;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

public class Emissor {
    private static final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private static final Path file = Optional.ofNullable(System.getenv("TOKENS_FILE")).filter(path -> !path.isEmpty()).map(Path::of)
        .orElseThrow(() -> new IllegalStateException("TOKENS_FILE is not set")).toAbsolutePath();
    private static final String owner = "{\"" + encode(System.getenv("AUTH_URL") + " " + System.getenv("CLIENT_ID")
        + " " + System.getenv("USER_EMAIL")) + "\":"; // tokens of another are not used
    private static final long seconds = Long.parseLong(Optional.ofNullable(System.getenv("REFRESH_SECONDS")).filter(text -> !text.isEmpty()).orElse("25"));
    private static long failedAt;

    /** Calls the API; once more, with another token, where the stored one is refused. */
    public static HttpResponse<String> call(String method, String path, String body) throws Exception {
        String token = validToken(null, System.currentTimeMillis());
        HttpResponse<String> answer = callWith(token, method, path, body);
        return answer.statusCode() == 401 ? callWith(validToken(token, System.currentTimeMillis()), method, path, body) : answer;
    }

    private static HttpResponse<String> callWith(String token, String method, String path, String body) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(System.getenv("BASE_URL") + path)).header("Content-Type", "application/json")
            .header("Authorization", "Bearer " + token).method(method, HttpRequest.BodyPublishers.ofString(body == null ? "" : body)).build();
        for (int tries = 1; ; tries++) {
            var answer = send(request, 30);
            if (waitOf(answer) == 0 || tries == 5) return answer;
            Thread.sleep(waitOf(answer));
        }
    }

    /** Returns the stored token unless it was refused. One other is asked for, however many threads wait for it. */
    private static synchronized String validToken(String refused, long asked) throws Exception {
        String text = Files.exists(file) ? Files.readString(file) : "", stored = text.startsWith(owner) ? text : "";
        String token = field(stored, "access_token"), refreshToken = field(stored, "refresh_token"), fresh = "{\"error\":\"invalid_grant\"}";
        long now = System.currentTimeMillis(), until = Long.parseLong(Objects.requireNonNullElse(field(stored, "refresh_until"), "" + (now + seconds * 1_000)));
        if (now < Long.parseLong(Objects.requireNonNullElse(field(stored, "refused_until"), "0"))) throw new IOException("The login was refused: mend the password and delete " + file);
        if (asked < failedAt && failedAt <= now) throw new IOException("There is no token: another call got none"); // that this one waited for
        if (token != null && !token.equals(refused)) return token;
        if (refreshToken != null && now <= until) {
            // Stored before it is sent: no later call may send it after that.
            store("{\"refresh_token\":\"" + refreshToken + "\",\"refresh_until\":\"" + until + "\"}");
            fresh = grant(Map.of("grant_type", "refresh_token", "refresh_token", refreshToken), until);
        }
        // The session is over, or may not be refreshed: one login, and no loop.
        if (List.of("invalid_grant", "unauthorized_client").contains("" + field(fresh, "error")))
            fresh = grant(Map.of("grant_type", "password", "username", System.getenv("USER_EMAIL"), "password", System.getenv("USER_PASSWORD")), Long.MAX_VALUE);
        if ("invalid_grant".equals(field(fresh, "error"))) store("{\"refused_until\":\"" + (now + 900_000) + "\"}");
        failedAt = field(fresh, "access_token") == null ? System.currentTimeMillis() : 0;
        if (field(fresh, "access_token") == null) throw new IOException("There is no token: " + field(fresh, "error"));
        store(fresh); // before anybody uses it
        return field(fresh, "access_token");
    }

    private static void store(String content) throws IOException {
        Path next = Files.writeString(Files.createTempFile(file.getParent(), "tokens", ".json"), owner + content + "}"); // of mode 0600
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE); // a file that is not whole never has the name
    }

    /** Repeats a request that failed or whose answer was lost. A refresh token that is sent again after 30 seconds counts as stolen. */
    private static String grant(Map<String, String> grant, long until) throws Exception {
        String form = "client_id=" + encode(System.getenv("CLIENT_ID")) + "&client_secret=" + encode(System.getenv("CLIENT_SECRET"))
            + grant.entrySet().stream().map(entry -> "&" + entry.getKey() + "=" + encode(entry.getValue())).collect(Collectors.joining());
        var request = HttpRequest.newBuilder(URI.create(System.getenv("AUTH_URL") + "/oauth/v1/token"))
            .header("Content-Type", "application/x-www-form-urlencoded").POST(HttpRequest.BodyPublishers.ofString(form)).build();
        for (int tries = 1; ; tries++) {
            long wait = tries * 1_000;
            try {
                var answer = send(request, 8);
                wait = Math.max(wait, waitOf(answer));
                // One that ends otherwise was cut off.
                if (answer.statusCode() < 500 && waitOf(answer) == 0 && answer.body().strip().endsWith("}") || tries == 4) return answer.body();
            } catch (IOException error) { if (tries == 4) return "{\"error\":\"" + error + "\"}"; }
            Thread.sleep(wait); // before a login, too
            if (System.currentTimeMillis() >= until) return "{\"error\":\"invalid_grant\"}";
        }
    }

    /** Returns a whole answer that comes in time: a timeout of the request would end with the headers. */
    private static HttpResponse<String> send(HttpRequest request, int seconds) throws Exception {
        var sent = client.sendAsync(request, HttpResponse.BodyHandlers.ofString());
        try { return sent.get(seconds, TimeUnit.SECONDS); }
        catch (TimeoutException | ExecutionException error) { throw new IOException("No whole answer came", error); }
        finally { sent.cancel(true); }
    }

    /** Returns the milliseconds that 429 and 503 ask to wait, a minute at most; 0 for other answers. */
    private static long waitOf(HttpResponse<String> answer) {
        if (answer.statusCode() != 429 && answer.statusCode() != 503) return 0;
        String seconds = answer.headers().firstValue("Retry-After").filter(text -> text.matches("\\d{1,9}")).orElse("1"); // not a date
        return Math.max(Math.min(Long.parseLong(seconds), 60), 1) * 1_000;
    }

    private static String field(String json, String name) {
        return Pattern.compile("\"" + name + "\"\\s*:\\s*\"([^\"]*)\"").matcher(json).results().map(found -> found.group(1)).findFirst().orElse(null);
    }

    private static String encode(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }
}
