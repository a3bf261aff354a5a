// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/gateway_source.h"

#include "ui/words/tr.h"

#include <QStringList>
#include <QUrl>

#include <utility>
#include <variant>

namespace spanscope::ui {

WindowGateway::WindowGateway(gateway::GatewayConfig config)
    : m_gateway(std::make_unique<gateway::Gateway>(std::move(config))),
      m_url(QString::fromStdString(m_gateway->url())),
      m_recorders(m_gateway->recorders()),
      m_upstreams(m_gateway->upstreams()) {}

WindowGateway::~WindowGateway() {
  m_hurry.request_stop();
  if (m_ending.joinable()) m_ending.join();
}

void WindowGateway::refresh() {
  if (!m_gateway) return;
  m_upstreams = m_gateway->upstreams();
  if (!m_hasFinished) return;
  m_ending.join();
  m_gateway.reset();
}

void WindowGateway::stop() {
  if (!m_gateway) return;
  if (m_ending.joinable()) {
    m_hurry.request_stop();
    return;
  }
  m_ending = std::thread([this, hurry = m_hurry.get_token()] {
    m_gateway->finish(hurry);
    m_hasFinished = true;
  });
}

std::vector<std::shared_ptr<GatewaySource>> GatewaySource::open(gateway::GatewayConfig config,
                                                                const std::string& file) {
  const auto gateway = std::make_shared<WindowGateway>(std::move(config));
  std::vector<std::shared_ptr<GatewaySource>> sources;
  for (std::size_t server = 0; server < gateway->upstreams().size(); ++server) {
    const std::string own = file.empty() ? file : gateway::recordingOf(file, server);
    sources.push_back(std::make_shared<GatewaySource>(gateway, server, own));
  }
  gateway->start();
  return sources;
}

GatewaySource::GatewaySource(std::shared_ptr<WindowGateway> gateway, std::size_t server,
                             const std::string& file)
    : StreamedSource(gateway->recorders()[server], file), m_gateway(std::move(gateway)), m_server(server) {}

ReportedFacts GatewaySource::reports() const {
  ReportedFacts facts;
  for (const Fact fact : {Fact::TokenTimes, Fact::Passes, Fact::Attention})
    facts.set(fact, Reporting::CannotBeReported);
  if (!m_hasSession || m_hasBlocks) return facts;
  for (const Fact fact : {Fact::Prompts, Fact::TokenTexts, Fact::BlockLookups, Fact::Pool})
    facts.set(fact, Reporting::CannotBeReported);
  return facts;
}

void GatewaySource::take(const trace::Event& event) {
  m_runs += std::holds_alternative<trace::RunStarted>(event.payload) ? 1 : 0;
  const auto* started = std::get_if<trace::SessionStarted>(&event.payload);
  if (started == nullptr) return;
  m_hasSession = true;
  m_hasBlocks = !started->pool.blocks.empty();
}

void GatewaySource::refresh() {
  m_gateway->refresh();
  if (m_hasEnded || m_gateway->isOpen()) return;
  m_hasEnded = true;
  finishFile();
}

QString GatewaySource::title() const {
  const QString address = QUrl(url()).authority();
  if (m_gateway->upstreams().size() == 1) return tr("Gateway %1").arg(address);
  return tr("Gateway %1 → %2").arg(address, QString::fromStdString(upstream().name));
}

QString GatewaySource::stateText() const {
  const QString address = QUrl(url()).authority();
  if (m_hasEnded) return tr("The gateway at %1 has ended").arg(address);
  const gateway::UpstreamState& state = upstream();
  const QString title = state.isKnown ? QStringLiteral("%1 %2")
                                            .arg(QLatin1String(remote::infoOf(state.facts.kind).title),
                                                 QString::fromStdString(state.facts.version))
                                            .trimmed()
                                      : QString::fromStdString(state.name);
  QStringList parts{m_gateway->isEnding() ? tr("Ending %1").arg(address) : tr("%1 → %2").arg(address, title)};
  if (m_runs > 0) parts += m_runs == 1 ? tr("1 request") : tr("%1 requests").arg(m_runs);
  if (state.running > 0) parts += tr("%1 running").arg(state.running);
  return parts.join(tr(" · "));
}

}  // namespace spanscope::ui
