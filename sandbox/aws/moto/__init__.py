"""The moto server of the sandbox: how it is started, called without a socket, and made faster."""
