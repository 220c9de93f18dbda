import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.elasticsearch.common.logging.LogConfigurator;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.env.Environment;
import org.elasticsearch.node.InternalSettingsPreparer;
import org.elasticsearch.node.Node;
import org.elasticsearch.plugins.PluginsLoader;

/**
 * Runs one Elasticsearch node from the published jars until the process gets SIGTERM.
 *
 * The official main class cannot be used: it wants its arguments in a private format on standard input, and
 * agent jars that are not published. Only public API is called here.
 *
 * System properties: es.path.home (folder with lib/ and modules/), es.path.conf (folder with elasticsearch.yml
 * and log4j2.properties). Exit code 1 when the node cannot start; standard error and the node's log say why.
 */
public final class NodeLauncher {
    private static final long CLOSE_SECONDS = 20;

    private NodeLauncher() {}

    public static void main(String[] arguments) {
        try {
            run(Path.of(System.getProperty("es.path.home")), Path.of(System.getProperty("es.path.conf")));
        } catch (Throwable failure) {
            failure.printStackTrace();
            System.exit(1);
        }
    }

    private static void run(Path home, Path config) throws Exception {
        LogConfigurator.registerErrorListener();
        Settings pathHome = Settings.builder().put("path.home", home).build();
        Environment environment =
            InternalSettingsPreparer.prepareEnvironment(pathHome, Map.of(), config, () -> "node");
        LogConfigurator.setNodeName(Node.NODE_NAME_SETTING.get(environment.settings()));
        LogConfigurator.configure(environment, false);
        // The last false says that we run on a class path; with true the loader wants Elasticsearch's named modules.
        PluginsLoader loader = PluginsLoader.createPluginsLoader(
            PluginsLoader.loadModulesBundles(environment.modulesDir(), false), Set.of(), Map.of(), false);
        Node node = new Node(environment, loader);
        CountDownLatch closed = new CountDownLatch(1);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> close(node, closed), "node-closer"));
        node.start();
        // All threads of a node are daemons, so this one keeps the process alive.
        closed.await();
    }

    private static void close(Node node, CountDownLatch closed) {
        try {
            node.prepareForClose();
            node.close();
            node.awaitClose(CLOSE_SECONDS, TimeUnit.SECONDS);
        } catch (Exception failure) {
            failure.printStackTrace();
        } finally {
            closed.countDown();
        }
    }
}
