import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

public class Emissor {
    private static final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private static final Path file = Path.of(System.getenv("TOKENS_FILE")).toAbsolutePath();

    /** Calls the API; once more, with another token, where the stored one is refused. */
    public static HttpResponse<String> call(String method, String path, String body) throws Exception {
        String token = validToken(null);
        HttpResponse<String> answer = callWith(token, method, path, body);
        return answer.statusCode() == 401 ? callWith(validToken(token), method, path, body) : answer;
    }

    private static HttpResponse<String> callWith(String token, String method, String path, String body) throws Exception {
        return patiently(HttpRequest.newBuilder(URI.create(System.getenv("BASE_URL") + path))
            .header("Authorization", "Bearer " + token).header("Content-Type", "application/json")
            .method(method, HttpRequest.BodyPublishers.ofString(body == null ? "" : body)).timeout(Duration.ofSeconds(30)));
    }

    /** Returns the stored token unless it was refused. One other is asked for, however many threads wait for it. */
    private static synchronized String validToken(String refused) throws Exception {
        String stored = Files.exists(file) ? Files.readString(file) : "";
        String token = field(stored, "access_token"), refreshToken = field(stored, "refresh_token"), until = field(stored, "refused_until");
        if (until != null && System.currentTimeMillis() < Long.parseLong(until)) {
            throw new IOException("The login was refused: mend the password and delete " + file);
        }
        if (token != null && !token.equals(refused)) return token;
        String fresh = "{\"error\":\"invalid_grant\"}";
        if (refreshToken != null) fresh = grant(Map.of("grant_type", "refresh_token", "refresh_token", refreshToken));
        if ("invalid_grant".equals(field(fresh, "error"))) { // the session is over: one login, and no loop
            fresh = grant(Map.of("grant_type", "password",
                "username", System.getenv("USER_EMAIL"), "password", System.getenv("USER_PASSWORD")));
        }
        if ("invalid_grant".equals(field(fresh, "error"))) store("{\"refused_until\":\"" + (System.currentTimeMillis() + 900_000) + "\"}");
        if (field(fresh, "access_token") == null) throw new IOException("There is no token: " + field(fresh, "error"));
        store(fresh); // before anybody uses it
        return field(fresh, "access_token");
    }

    private static void store(String content) throws IOException {
        Path next = Files.createTempFile(file.getParent(), "tokens", ".json"); // of mode 0600
        Files.writeString(next, content); // a file that is not whole never has the name
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
    }

    /** Repeats a request that failed or whose answer was lost: for 30 seconds a refresh token yields the same successor. */
    private static String grant(Map<String, String> grant) throws Exception {
        String form = "client_id=" + encode(System.getenv("CLIENT_ID")) + "&client_secret=" + encode(System.getenv("CLIENT_SECRET"))
            + grant.entrySet().stream().map(entry -> "&" + entry.getKey() + "=" + encode(entry.getValue())).collect(Collectors.joining());
        for (int tries = 1; ; tries++) {
            try {
                var answer = patiently(HttpRequest.newBuilder(URI.create(System.getenv("AUTH_URL") + "/oauth/v1/token"))
                    .header("Content-Type", "application/x-www-form-urlencoded")
                    .POST(HttpRequest.BodyPublishers.ofString(form)).timeout(Duration.ofSeconds(8)));
                if (answer.statusCode() < 500 && answer.body().strip().endsWith("}") || tries == 3) return answer.body(); // not cut off
            } catch (IOException error) {
                if (tries == 3) throw error;
            }
            Thread.sleep(tries * 1_000);
        }
    }

    /** Waits as long as 429 and 503 ask for, up to a minute, four times at most. */
    private static HttpResponse<String> patiently(HttpRequest.Builder request) throws Exception {
        for (int tries = 1; ; tries++) {
            var answer = client.send(request.build(), HttpResponse.BodyHandlers.ofString());
            if (answer.statusCode() != 429 && answer.statusCode() != 503 || tries == 5) return answer;
            String seconds = answer.headers().firstValue("Retry-After").filter(text -> text.matches("\\d{1,9}")).orElse("1"); // not a date
            Thread.sleep(Math.min(Long.parseLong(seconds), 60) * 1_000);
        }
    }

    private static String field(String json, String name) {
        var found = Pattern.compile("\"" + name + "\"\\s*:\\s*\"([^\"]*)\"").matcher(json);
        return found.find() ? found.group(1) : null;
    }

    private static String encode(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }
}
