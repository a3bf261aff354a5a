// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/server/served_address.h"

#include "engine/base/error.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace spanscope::server {
namespace {

/// Returns the context for TLS. Null: the server has no certificate. Throws Failure if clients of other
/// machines could use the address without a key or TLS.
std::shared_ptr<SSL_CTX> secureContext(const AddressConfig& config) {
  const bool hasTls = !config.certificate.empty() || !config.privateKey.empty();
  if (!isLoopback(config.host) && (config.keys.empty() || !hasTls)) {
    throw Failure(errorAt(
        "address " + config.host,
        config.keys.empty() ? /*id:no-keys-clients*/ "no client keys" : "no certificate for TLS",
        "client keys and TLS (a certificate and its private key) for an address other than the loopback"));
  }
  if (!hasTls) return nullptr;
  return tlsContext(config.certificate.string(), config.privateKey.string());
}

[[noreturn]] void forbid(const std::string& message, const char* code) {
  throw ApiFailure({.status = 403, .message = message, .type = "permission_error", .code = code});
}

}  // namespace

ServedAddress::ServedAddress(const AddressConfig& config)
    : keys(config.keys),
      requests(config.served, config.keepsTexts),
      m_config(config),
      m_access{.isLoopback = isLoopback(config.host), .hosts = config.hosts, .origins = config.origins},
      m_isSecure(!config.certificate.empty() || !config.privateKey.empty()),
      m_turns(std::max<std::size_t>(config.limits.requests, 1)),
      m_largeBodies(std::max(config.limits.largeBodyBytes, config.limits.bodyBytes)),
      listener(config.limits, secureContext(config)),
      m_port(listener.take(config.host, config.port)) {}

std::string ServedAddress::url() const {
  const std::string& host = m_config.host;
  const bool isBare = host.find(':') != std::string::npos && !host.starts_with("[");
  return std::string(m_isSecure ? "https://" : "http://") + (isBare ? "[" + host + "]" : host) + ":" +
         std::to_string(m_port);
}

void ServedAddress::checkOrigin(const RequestHead& head) const {
  if (!isHostAllowed(head.value("host"), m_access))
    forbid("This server does not accept the host name in 'Host'.", "host_not_allowed");
  const std::string_view origin = head.value("origin");
  if (head.count("origin") > 1 || !isOriginAllowed(origin, m_access))
    forbid("Web pages of this 'Origin' may not use this server.", "origin_not_allowed");
  const std::string_view site = head.value("sec-fetch-site");
  if (origin.empty() && !site.empty() && site != "none" && site != "same-origin")
    forbid("Web pages of other sites may not use this server.", "origin_not_allowed");
}

void ServedAddress::checkKey(const RequestHead& head) const {
  if (keys.isEmpty() || keys.saltOf(head.value("authorization"))) return;
  throw ApiFailure({.status = 401,
                    .message = "This server needs a key: Authorization: Bearer KEY.",
                    .type = "authentication_error",
                    .code = "invalid_api_key"});
}

std::optional<ApiError> ServedAddress::interruption(const Connection* client, Clock::time_point began) const {
  if (client != nullptr && client->isClientGone())
    return ApiError{.status = kClientGone, .message = "The client has disconnected.", .type = "server_error"};
  if (Clock::now() - began > m_config.limits.toAnswer)
    return ApiError{.status = 504,
                    .message = "The answer took longer than this server allows.",
                    .type = "timeout_error",
                    .code = "answer_timeout"};
  if (m_isHurrying) return serverIsEnding();
  return std::nullopt;
}

Gate::Pass ServedAddress::enter(Gate& gate, const Connection* client, std::uint64_t amount) const {
  const Clock::time_point came = Clock::now();
  std::optional<ApiError> error;
  Gate::Pass pass = gate.enter(amount, [&] {
    error = m_isDraining ? serverIsEnding() : interruption(client, came);
    return error.has_value();
  });
  // The gate may have admitted the request at the same time as the end.
  if (!error && m_isDraining) error = serverIsEnding();
  if (error) throw ApiFailure(*error);
  return pass;
}

void ServedAddress::finish(const std::stop_token& hurry) {
  m_isDraining = true;
  listener.closeSoon();
  const Clock::time_point until = Clock::now() + m_config.limits.toFinish;
  while (running > 0 && Clock::now() < until && !hurry.stop_requested()) std::this_thread::sleep_for(kCheckPeriod);
  m_isHurrying = true;
  // The server still writes the last answers, and also answers waiting clients.
  constexpr std::chrono::milliseconds kToTell{2000};
  const Clock::time_point end = Clock::now() + kToTell;
  while ((running > 0 || listener.unanswered() > 0) && Clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  listener.finish();
}

}  // namespace spanscope::server
