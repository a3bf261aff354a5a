// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/attention_entropy/attention_entropy_view.h"

#include "ui/session/job_results.h"
#include "ui/views/common/number_text.h"
#include "ui/views/common/plot_painting.h"
#include "ui/views/common/text_painting.h"
#include "ui/views/common/text_tools.h"
#include "ui/words/tr.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace spanscope::ui {

EntropyModel entropyModel(const ViewInput& input) {
  EntropyModel model;
  const auto& requests = input.state().progress().requests;
  const auto request = requests.find(input.shownRequest());
  if (request == requests.end() || request->second.segments.empty()) return model;
  model.choice.request = request->first;
  const jobs::JobCall call = jobs::callOf<jobs::AttentionEntropyJob>(model.choice);
  model.reason = jobReason(input, call);
  model.isRunning = isRunning(input, call);
  model.problem = jobProblem(input, call);
  model.entropy = jobResult<jobs::AttentionEntropyJob>(input, model.choice);
  return model;
}

QString entropySentence(const EntropyModel& model) {
  if (!model.entropy) return {};
  const std::vector<double>& layers = model.entropy->layers;
  const auto [low, high] = std::minmax_element(layers.begin(), layers.end());
  const QString rows = model.entropy->rows == model.entropy->answerRows
                           ? tr("Mean over all heads and %1 tokens of the answer.").arg(model.entropy->rows)
                           : tr("Mean over all heads and the first %1 of %2 tokens of the answer.")
                                 .arg(model.entropy->rows)
                                 .arg(model.entropy->answerRows);
  return tr("The entropy is lowest in layer %1 with %2 nats, and highest in layer %3 with %4 nats.")
             .arg(low - layers.begin())
             .arg(*low, 0, 'f', 2)
             .arg(high - layers.begin())
             .arg(*high, 0, 'f', 2) +
         QLatin1Char(' ') + rows;
}

AttentionEntropyView::AttentionEntropyView(QWidget* parent)
    : RunView(parent, InputPart::Replay, Pace::EveryInput),
      m_status(new QLabel(this)),
      m_compute(new QPushButton(this)),
      m_plot(new QCustomPlot(this)),
      m_sentence(new QLabel(this)) {
  for (QLabel* label : {m_status, m_sentence}) {
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Minimum);
  }
  m_sentence->setAccessibleName(tr("Result"));
  m_compute->setToolTip(tr("Recompute the tokens of the answer to measure the entropy"));
  m_plot->setFocusPolicy(Qt::NoFocus);
  m_plot->setMinimumSize(180, 90);
  setFocusProxy(m_compute);
  auto* row = new QHBoxLayout;
  row->addWidget(m_compute);
  row->addWidget(m_status, 1);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(2 * kSpace, kSpace, 2 * kSpace, kSpace);
  column->setSpacing(kSpace);
  column->addLayout(row);
  column->addWidget(m_sentence);
  column->addWidget(m_plot, 1);
  column->addStretch(0);
  connect(m_compute, &QPushButton::clicked, this, [this] {
    if (m_shown.isRunning)
      Q_EMIT commandWanted(QStringLiteral("run.stop"));
    else if (m_shown.canCompute())
      Q_EMIT jobWanted(jobs::callOf<jobs::AttentionEntropyJob>(m_shown.choice));
  });
  for (QWidget* part : findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly)) part->hide();
}

QString AttentionEntropyView::emptyText() const {
  return m_shown.choice.request == 0
             ? tr("Run a query to see how widely its answer spreads attention in each layer.")
             : QString();
}

QString AttentionEntropyView::statusText() const {
  if (m_shown.isRunning) return tr("Recomputing the tokens of the answer…");
  if (m_shown.entropy) return tr("Dashed: the same weight on every key.");
  if (!m_shown.problem.isEmpty()) return m_shown.problem;
  return m_shown.reason.isEmpty() ? tr("The entropy of attention is not computed yet.") : m_shown.reason;
}

Role AttentionEntropyView::statusRole() const {
  const bool isProblem = !m_shown.problem.isEmpty() && !m_shown.isRunning && !m_shown.entropy;
  return isProblem ? Role::Error : Role::TextSecond;
}

void AttentionEntropyView::refresh() {
  m_shown = entropyModel(*input());
  const bool hasAnswer = m_shown.choice.request != 0;
  m_status->setVisible(hasAnswer);
  m_compute->setVisible(hasAnswer && !m_shown.entropy);
  m_sentence->setVisible(m_shown.entropy != nullptr);
  m_plot->setVisible(m_shown.entropy != nullptr);
  for (QLabel* label : {m_status, m_sentence}) label->setFont(theme().smallFont());
  colorLabel(*m_status, theme(), statusRole());
  colorLabel(*m_sentence, theme(), Role::Text);
  m_status->setText(statusText());
  m_sentence->setText(entropySentence(m_shown));
  m_compute->setText(m_shown.isRunning ? tr("Stop") : tr("Compute entropy"));
  m_compute->setEnabled(m_shown.isRunning || m_shown.canCompute());
  fillPlot();
  update();
}

void AttentionEntropyView::fillPlot() {
  m_plot->clearPlottables();
  stylePlot(*m_plot, theme());
  m_plot->setAccessibleName(tr("Entropy of attention by layer"));
  m_plot->setAccessibleDescription(entropySentence(m_shown));
  if (!m_shown.entropy) return;
  const auto add = [this](const std::vector<double>& nats, const QPen& pen) {
    QCPGraph* graph = m_plot->addGraph();
    graph->setPen(pen);
    for (std::size_t layer = 0; layer < nats.size(); ++layer)
      graph->addData(static_cast<double>(layer), nats[layer]);
    return graph;
  };
  add(m_shown.entropy->uniform, QPen(theme().color(Role::TextThird), 1, Qt::DashLine));
  const QColor ink = theme().color(Role::Accent);
  add(m_shown.entropy->layers, QPen(ink, 1.5))
      ->setScatterStyle({QCPScatterStyle::ssDisc, QPen(ink, 1), QBrush(ink), 4});
  const std::vector<double>& uniform = m_shown.entropy->uniform;
  const std::vector<double>& layers = m_shown.entropy->layers;
  const double most = std::max(*std::max_element(uniform.begin(), uniform.end()),
                               *std::max_element(layers.begin(), layers.end()));
  m_plot->xAxis->setLabel(tr("layer"));
  m_plot->yAxis->setLabel(tr("nats"));
  auto ticker = QSharedPointer<QCPAxisTickerFixed>::create();
  ticker->setTickStep(1);
  ticker->setScaleStrategy(QCPAxisTickerFixed::ssMultiples);
  m_plot->xAxis->setTicker(ticker);
  m_plot->xAxis->setRange(-0.5, static_cast<double>(layers.size()) - 0.5);
  m_plot->yAxis->setRange(0, most > 0 ? 1.08 * most : 1);
  m_plot->replot(QCustomPlot::rpQueuedReplot);
}

QString AttentionEntropyView::csv() const {
  const EntropyModel model = input() == nullptr ? EntropyModel() : entropyModel(*input());
  if (!model.entropy) return {};
  QString csv =
      csvLine({QStringLiteral("layer"), QStringLiteral("entropy nats"), QStringLiteral("uniform nats")});
  for (std::size_t layer = 0; layer < model.entropy->layers.size(); ++layer)
    csv += csvLine({QString::number(layer), csvNumber(model.entropy->layers[layer]),
                    csvNumber(model.entropy->uniform[layer])});
  return csv;
}

void AttentionEntropyView::paintTo(QPainter& painter, const QSize& size) {
  ensureFresh();
  if (paintIfEmpty(painter, size)) return;
  const QRect area(QPoint(), size);
  painter.fillRect(area, theme().color(Role::Surface));
  QRect inner = area.adjusted(2 * kSpace, kSpace, -2 * kSpace, -kSpace);
  paintTextAtTop(painter, inner, statusText(), theme(), statusRole());
  if (!m_shown.entropy) return;
  paintTextAtTop(painter, inner, entropySentence(m_shown), theme(), Role::Text);
  paintPlot(*m_plot, painter, inner);
}

ViewInfo attentionEntropyRow() {
  return {.id = QStringLiteral("attention-entropy"),
          .title = tr("Attention entropy"),
          .help = tr("How widely an answer spreads its attention, layer by layer"),
          .make = makeViewOf<AttentionEntropyView>,
          .needs = {Fact::Prompts},
          .places = {{LayoutId::Explain, Room::Low, Room::Middle, 1, 1, 3, 0},
                     {LayoutId::Explain, Room::Full, Room::Large, 1, 1, 2, 0}}};
}

}  // namespace spanscope::ui
