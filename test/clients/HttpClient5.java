import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.List;
import org.apache.hc.client5.http.entity.UrlEncodedFormEntity;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.core5.http.ContentType;
import org.apache.hc.core5.http.NameValuePair;
import org.apache.hc.core5.http.io.entity.EntityUtils;
import org.apache.hc.core5.http.io.entity.StringEntity;
import org.apache.hc.core5.http.io.support.ClassicRequestBuilder;
import org.apache.hc.core5.net.WWWFormCodec;

/** Posts a form in the ways that Apache HttpClient offers. Prints the way, the status and the body of the answer of each. */
public class HttpClient5 {
    public static void main(String[] args) throws Exception {
        String url = args[0], form = args[1], authorization = args[2];
        var pairs = WWWFormCodec.parse(form, UTF_8).toArray(NameValuePair[]::new);
        var list = List.of(pairs);
        post("UrlEncodedFormEntity(pairs)", ClassicRequestBuilder.post(url).setEntity(new UrlEncodedFormEntity(list)), authorization);
        post("UrlEncodedFormEntity(pairs, UTF_8)", ClassicRequestBuilder.post(url).setEntity(new UrlEncodedFormEntity(list, UTF_8)), authorization);
        post("addParameters(pairs)", ClassicRequestBuilder.post(url).addParameters(pairs), authorization);
        post("StringEntity(form, APPLICATION_FORM_URLENCODED)", ClassicRequestBuilder.post(url).setEntity(new StringEntity(form, ContentType.APPLICATION_FORM_URLENCODED)), authorization);
    }

    static void post(String way, ClassicRequestBuilder builder, String authorization) throws Exception {
        if (!authorization.isEmpty()) builder.addHeader("Authorization", authorization);
        try (var client = HttpClients.createDefault()) {
            System.out.println(way + "\t" + client.execute(builder.build(), response -> response.getCode() + "\t" + EntityUtils.toString(response.getEntity())));
        }
    }
}
