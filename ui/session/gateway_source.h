// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/remote/gateway/gateway.h"
#include "ui/session/streamed_source.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace spanscope::ui {

/// A gateway of the window. The tabs of its servers share the gateway, which ends with the last tab.
class WindowGateway {
 public:
  /// Opens the address. Throws Failure like gateway::Gateway.
  explicit WindowGateway(gateway::GatewayConfig config);
  ~WindowGateway();
  WindowGateway(const WindowGateway&) = delete;
  WindowGateway& operator=(const WindowGateway&) = delete;

  void start() { m_gateway->start(); }
  /// Refuses new requests, and ends after the running requests. A second call breaks them off.
  void stop();
  /// Takes the state of the servers.
  void refresh();
  bool isOpen() const { return m_gateway != nullptr; }
  bool isEnding() const { return m_ending.joinable(); }
  /// "http://127.0.0.1:8001".
  const QString& url() const { return m_url; }
  /// By server, in the order of the configuration. The last known state after the end.
  const std::vector<gateway::UpstreamState>& upstreams() const { return m_upstreams; }
  const std::vector<std::shared_ptr<trace::Recorder>>& recorders() const { return m_recorders; }

 private:
  std::unique_ptr<gateway::Gateway> m_gateway;  ///< null: ended
  QString m_url;
  std::vector<std::shared_ptr<trace::Recorder>> m_recorders;
  std::vector<gateway::UpstreamState> m_upstreams;
  std::stop_source m_hurry;
  std::atomic<bool> m_hasFinished = false;
  std::thread m_ending;
};

/// The requests that pass a gateway of the window to one of its servers (engine/remote/gateway). Each request
/// is a run with its own query.
class GatewaySource final : public StreamedSource {
 public:
  /// Opens the address, and begins to answer. Returns a source for each server. `file`: as for
  /// StreamedSource, of the first server; see gateway::recordingOf(). Throws Failure like gateway::Gateway,
  /// too.
  static std::vector<std::shared_ptr<GatewaySource>> open(gateway::GatewayConfig config,
                                                          const std::string& file = {});
  /// `server`: index. The gateway must not have begun to answer.
  GatewaySource(std::shared_ptr<WindowGateway> gateway, std::size_t server, const std::string& file);

  ReportedFacts reports() const override;
  bool isOpen() const override { return !m_hasEnded; }
  /// Stops the whole gateway.
  void stop() override { m_gateway->stop(); }
  /// "127.0.0.1:8001 → vLLM 0.32.0 · 12 requests · 2 running".
  QString stateText() const override;
  QString problem() const override { return QString::fromStdString(upstream().problem); }

  /// "http://127.0.0.1:8001".
  const QString& url() const { return m_gateway->url(); }
  /// "Gateway 127.0.0.1:8001", with the name of the server if there are several.
  QString title() const;

 private:
  void take(const trace::Event& event) override;
  void refresh() override;
  const gateway::UpstreamState& upstream() const { return m_gateway->upstreams()[m_server]; }

  std::shared_ptr<WindowGateway> m_gateway;
  std::size_t m_server;
  std::size_t m_runs = 0;
  bool m_hasEnded = false;
  bool m_hasSession = false;
  bool m_hasBlocks = false;  ///< the kind of server has a cache simulator
};

}  // namespace spanscope::ui
