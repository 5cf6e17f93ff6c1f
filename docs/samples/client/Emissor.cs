using System;
using System.Collections.Generic;
using System.IO;
using System.Net.Http;
using System.Text;
using System.Text.RegularExpressions;
using System.Threading;
using System.Threading.Tasks;

public static class Emissor
{
    static readonly HttpClient client = new HttpClient { Timeout = TimeSpan.FromSeconds(30) }, granting = new HttpClient { Timeout = TimeSpan.FromSeconds(8) };
    static readonly string tokensFile = Path.GetFullPath(Env("TOKENS_FILE"));
    static readonly string owner = "{\"" + Uri.EscapeDataString(string.Join(" ", Env("AUTH_URL"), Env("CLIENT_ID"), Env("USER_EMAIL"))) + "\":"; // tokens of another are not used
    static readonly SemaphoreSlim oneAtATime = new SemaphoreSlim(1);
    static long failedAt;

    /// <summary>Calls the API; once more, with another token, where the stored one is refused.</summary>
    public static async Task<HttpResponseMessage> Call(string method, string path, string body = null)
    {
        var token = await ValidToken(null, Now());
        var answer = await CallWith(token, method, path, body);
        return (int)answer.StatusCode == 401 ? await CallWith(await ValidToken(token, Now()), method, path, body) : answer;
    }

    static async Task<HttpResponseMessage> CallWith(string token, string method, string path, string body)
    {
        for (var tries = 1; ; tries++)
        {
            var request = new HttpRequestMessage(new HttpMethod(method), Env("BASE_URL") + path);
            request.Headers.Add("Authorization", "Bearer " + token);
            if (body != null) request.Content = new StringContent(body, Encoding.UTF8, "application/json");
            var answer = await client.SendAsync(request);
            if (SecondsOf(answer) == 0 || tries == 5) return answer;
            await Task.Delay(SecondsOf(answer) * 1000);
        }
    }

    /// <summary>Returns the stored token unless it was refused. One other is asked for, however many tasks wait for it.</summary>
    static async Task<string> ValidToken(string refused, long asked)
    {
        await oneAtATime.WaitAsync();
        try
        {
            string text = File.Exists(tokensFile) ? File.ReadAllText(tokensFile) : "", stored = text.StartsWith(owner, StringComparison.Ordinal) ? text : "";
            string token = Field(stored, "access_token"), refreshToken = Field(stored, "refresh_token"), fresh = "{\"error\":\"invalid_grant\"}";
            long now = Now(), until = long.Parse(Field(stored, "refresh_until") ?? $"{now + long.Parse(Env("REFRESH_SECONDS", "25")) * 1000}");
            if (now < long.Parse(Field(stored, "refused_until") ?? "0")) throw new IOException("The login was refused: mend the password and delete " + tokensFile);
            if (asked < failedAt && failedAt <= now) throw new IOException("There is no token: another call got none"); // that this one waited for
            if (token != null && token != refused) return token;
            // Stored before it is sent: no later call may send it after that.
            if (refreshToken != null) Store("{\"refresh_token\":\"" + refreshToken + "\",\"refresh_until\":\"" + until + "\"}");
            if (refreshToken != null && now <= until) fresh = await Grant(until, "refresh_token", "refresh_token", refreshToken);
            // The session is over, or may not be refreshed: one login, and no loop.
            if (Field(fresh, "error") == "invalid_grant" || Field(fresh, "error") == "unauthorized_client")
                fresh = await Grant(long.MaxValue, "password", "username", Env("USER_EMAIL"), "password", Env("USER_PASSWORD"));
            if (Field(fresh, "error") == "invalid_grant") Store("{\"refused_until\":\"" + (now + 900000) + "\"}");
            failedAt = Field(fresh, "access_token") == null ? Now() : 0;
            if (Field(fresh, "access_token") == null) throw new IOException("There is no token: " + Field(fresh, "error"));
            Store(fresh); // before anybody uses it; keep the folder to yourself
            return Field(fresh, "access_token");
        }
        finally { oneAtATime.Release(); }
    }

    /// <summary>Puts a whole file in the place of the one before: no other process reads half of it.</summary>
    static void Store(string tokens)
    {
        var file = tokensFile + "." + Guid.NewGuid(); File.WriteAllText(file, owner + tokens + "}");
        if (File.Exists(tokensFile)) File.Replace(file, tokensFile, null); else File.Move(file, tokensFile);
    }

    /// <summary>Repeats a request that failed or whose answer was lost. A refresh token that is sent again after 30 seconds counts as stolen.</summary>
    static async Task<string> Grant(long until, string type, params string[] fields)
    {
        var form = new Dictionary<string, string> { ["grant_type"] = type, ["client_id"] = Env("CLIENT_ID"), ["client_secret"] = Env("CLIENT_SECRET") };
        for (var at = 0; at < fields.Length; at += 2) form[fields[at]] = fields[at + 1];
        for (var tries = 1; ; tries++)
        {
            var seconds = tries;
            try
            {
                var answer = await granting.PostAsync(Env("AUTH_URL") + "/oauth/v1/token", new FormUrlEncodedContent(form));
                var text = await answer.Content.ReadAsStringAsync();
                seconds = Math.Max(tries, SecondsOf(answer));
                if ((int)answer.StatusCode < 500 && SecondsOf(answer) == 0 && text.TrimEnd().EndsWith("}") || tries == 4) return text; // not cut off
            }
            catch (Exception error) when (error is HttpRequestException || error is TaskCanceledException) { if (tries == 4) return "{\"error\":\"no answer\"}"; }
            await Task.Delay(seconds * 1000); // before a login, too
            if (Now() >= until) return "{\"error\":\"invalid_grant\"}";
        }
    }

    /// <summary>Returns the seconds that 429 and 503 ask to wait, a minute at most; 0 for other answers.</summary>
    static int SecondsOf(HttpResponseMessage answer) => (int)answer.StatusCode != 429 && (int)answer.StatusCode != 503
        ? 0 : (int)Math.Max(1, Math.Min(answer.Headers.RetryAfter?.Delta?.TotalSeconds ?? 1, 60));

    static string Field(string json, string name) =>
        Regex.Match(json, "\"" + name + "\"\\s*:\\s*\"([^\"]*)\"") is Match found && found.Success ? found.Groups[1].Value : null;

    static long Now() => DateTimeOffset.UtcNow.ToUnixTimeMilliseconds();

    static string Env(string name, string otherwise = null) => Environment.GetEnvironmentVariable(name) is string text && text != "" ? text : otherwise ?? throw new InvalidOperationException(name + " is not set");
}
