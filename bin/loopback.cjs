/**
 * Excludes this machine from the environment's proxy, because the local run listens on loopback addresses. Node has already
 * read `NO_PROXY` and must read it again. Child processes inherit the setting.
 */
const { setGlobalProxyFromEnv } = require('node:http');

const { NODE_USE_ENV_PROXY, NODE_OPTIONS = '', no_proxy, NO_PROXY } = process.env;
if (NODE_USE_ENV_PROXY === '1' || NODE_OPTIONS.includes('--use-env-proxy')) {
  const hosts = [no_proxy || NO_PROXY, 'localhost', '127.0.0.1', '::1', '[::1]'].filter(Boolean).join();
  Object.assign(process.env, { no_proxy: hosts, NO_PROXY: hosts });
  setGlobalProxyFromEnv?.();
}
