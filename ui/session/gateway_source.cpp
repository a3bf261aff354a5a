// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/gateway_source.h"

#include "ui/words/tr.h"

#include <QStringList>
#include <QUrl>

#include <utility>
#include <variant>

namespace spanscope::ui {

GatewaySource::GatewaySource(gateway::GatewayConfig config, const std::string& file)
    : GatewaySource(std::make_unique<gateway::Gateway>(std::move(config)), file) {}

GatewaySource::GatewaySource(std::unique_ptr<gateway::Gateway> gateway, const std::string& file)
    : StreamedSource(gateway->recorders().front(), file), m_gateway(std::move(gateway)) {
  m_url = QString::fromStdString(m_gateway->url());
  m_upstream = m_gateway->upstreams().front();
  m_gateway->start();
}

GatewaySource::~GatewaySource() {
  m_hurry.request_stop();
  if (m_ending.joinable()) m_ending.join();
}

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
  if (!m_gateway) return;
  m_upstream = m_gateway->upstreams().front();
  if (!m_hasFinished) return;
  m_ending.join();
  m_gateway.reset();
  finishFile();
}

void GatewaySource::stop() {
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

QString GatewaySource::stateText() const {
  const QString address = QUrl(m_url).authority();
  if (!m_gateway) return tr("The gateway at %1 has ended").arg(address);
  const QString title = m_upstream.isKnown
                            ? QStringLiteral("%1 %2")
                                  .arg(QLatin1String(remote::infoOf(m_upstream.facts.kind).title),
                                       QString::fromStdString(m_upstream.facts.version))
                                  .trimmed()
                            : QString::fromStdString(m_upstream.name);
  QStringList parts{m_ending.joinable() ? tr("Ending %1").arg(address) : tr("%1 → %2").arg(address, title)};
  if (m_runs > 0) parts += m_runs == 1 ? tr("1 request") : tr("%1 requests").arg(m_runs);
  if (m_upstream.running > 0) parts += tr("%1 running").arg(m_upstream.running);
  return parts.join(tr(" · "));
}

QString GatewaySource::problem() const {
  return QString::fromStdString(m_upstream.problem);
}

}  // namespace spanscope::ui
