// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/remote/gateway/gateway.h"
#include "ui/session/streamed_source.h"

#include <atomic>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>

namespace spanscope::ui {

/// The requests that pass a gateway of the window to one server (engine/remote/gateway). Each request is a
/// run with its own query.
class GatewaySource final : public StreamedSource {
 public:
  /// Opens the address, and begins to answer. `config` has one upstream server. `file`: as for
  /// StreamedSource. Throws Failure like gateway::Gateway, too.
  explicit GatewaySource(gateway::GatewayConfig config, const std::string& file = {});
  ~GatewaySource() override;

  ReportedFacts reports() const override;
  bool isOpen() const override { return m_gateway != nullptr; }
  /// Refuses new requests, and ends after the running requests. A second call breaks them off.
  void stop() override;
  /// "127.0.0.1:8001 → vLLM 0.32.0 · 12 requests · 2 running".
  QString stateText() const override;
  QString problem() const override;

  /// "http://127.0.0.1:8001".
  const QString& url() const { return m_url; }

 private:
  explicit GatewaySource(std::unique_ptr<gateway::Gateway> gateway, const std::string& file);
  void take(const trace::Event& event) override;
  void refresh() override;

  std::unique_ptr<gateway::Gateway> m_gateway;  ///< null: ended
  QString m_url;
  gateway::UpstreamState m_upstream;
  std::size_t m_runs = 0;
  bool m_hasSession = false;
  bool m_hasBlocks = false;  ///< the kind of server has a cache simulator
  std::stop_source m_hurry;
  std::atomic<bool> m_hasFinished = false;
  std::thread m_ending;
};

}  // namespace spanscope::ui
