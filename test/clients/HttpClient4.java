import static java.nio.charset.StandardCharsets.UTF_8;

import org.apache.http.NameValuePair;
import org.apache.http.client.entity.UrlEncodedFormEntity;
import org.apache.http.client.methods.RequestBuilder;
import org.apache.http.client.utils.URLEncodedUtils;
import org.apache.http.entity.ContentType;
import org.apache.http.entity.StringEntity;
import org.apache.http.impl.client.HttpClients;
import org.apache.http.util.EntityUtils;

/** Posts a form in the ways that Apache HttpClient 4.5 offers, and prints what `HttpClient5` prints. */
public class HttpClient4 {
    public static void main(String[] args) throws Exception {
        String url = args[0], form = args[1], authorization = args[2];
        var pairs = URLEncodedUtils.parse(form, UTF_8);
        post("UrlEncodedFormEntity(pairs)", RequestBuilder.post(url).setEntity(new UrlEncodedFormEntity(pairs)), authorization);
        post("UrlEncodedFormEntity(pairs, UTF_8)", RequestBuilder.post(url).setEntity(new UrlEncodedFormEntity(pairs, UTF_8)), authorization);
        post("addParameters(pairs)", RequestBuilder.post(url).addParameters(pairs.toArray(NameValuePair[]::new)), authorization);
        post("StringEntity(form, APPLICATION_FORM_URLENCODED)", RequestBuilder.post(url).setEntity(new StringEntity(form, ContentType.APPLICATION_FORM_URLENCODED)), authorization);
    }

    static void post(String way, RequestBuilder builder, String authorization) throws Exception {
        if (!authorization.isEmpty()) builder.addHeader("Authorization", authorization);
        try (var client = HttpClients.createDefault(); var response = client.execute(builder.build())) {
            System.out.println(way + "\t" + response.getStatusLine().getStatusCode() + "\t" + EntityUtils.toString(response.getEntity()));
        }
    }
}
