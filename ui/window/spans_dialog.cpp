// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/spans_dialog.h"

#include "engine/base/error.h"
#include "engine/jobs/probe.h"
#include "engine/trace/fidelity_metrics.h"
#include "ui/session/log_diagnosis.h"
#include "ui/session/task_thread.h"
#include "ui/views/common/text_tools.h"

#include <QDialogButtonBox>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QRadioButton>
#include <QTreeWidget>
#include <QVBoxLayout>

#include <string_view>
#include <utility>

namespace spanscope::ui {
namespace {

QString kindHelp(doctor::SpanKind kind) {
  switch (kind) {
    case doctor::SpanKind::Tools:
      return SpansDialog::tr("Tools do not attend to each other.");
    case doctor::SpanKind::Examples:
      return SpansDialog::tr("Examples do not attend to each other.");
    case doctor::SpanKind::History:
      return SpansDialog::tr(
          "Earlier turns do not attend to each other. Later turns often refer to earlier turns, so answers "
          "can change.");
    case doctor::SpanKind::Documents:
      return SpansDialog::tr("Documents do not attend to each other.");
  }
  return {};
}

}  // namespace

SpansDialog::SpansDialog(const doctor::LoggedRequest& request, const QStringList& log, const ViewInput& input,
                         QWidget* parent)
    : QDialog(parent),
      m_request(request),
      m_input(input),
      m_list(new QTreeWidget(this)),
      m_note(new QLabel(this)),
      m_template(new QRadioButton(tr("Template for all requests, with parameters"), this)),
      m_counting(std::make_unique<TaskThread>()) {
  setWindowTitle(tr("To spans"));
  auto* explanation =
      new QLabel(tr("Each selected row becomes a plus. The children of a plus are spans: a cache can reuse a "
                    "span at any place. The children do not attend to each other, so answers can change."),
                 this);
  explanation->setWordWrap(true);
  m_list->setAccessibleName(tr("Proposals"));
  m_list->setRootIsDecorated(false);
  m_list->setHeaderLabels({tr("Parts"), tr("Tokens"), tr("In other requests"), tr("Measured risk")});
  m_list->setUniformRowHeights(true);
  m_note->setWordWrap(true);
  colorLabel(*m_note, input.theme, Role::TextSecond);
  auto* single = new QRadioButton(tr("This request"), this);
  single->setChecked(true);
  m_template->setToolTip(tr(
      "Turn a part into a parameter if fewer than half of the requests contain the part. The default is the "
      "text of this request"));
  m_template->setEnabled(false);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
  QPushButton* create = buttons->addButton(tr("Create query"), QDialogButtonBox::AcceptRole);
  create->setDefault(true);
  connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(4 * kSpace, 4 * kSpace, 4 * kSpace, 4 * kSpace);
  column->setSpacing(3 * kSpace);
  column->addWidget(explanation);
  column->addWidget(m_list, 1);
  column->addWidget(m_note);
  column->addWidget(single);
  column->addWidget(m_template);
  column->addWidget(buttons);
  resize(620, 420);
  m_proposals = doctor::proposeSpans(m_request, m_counts);
  showProposals();
  m_counting->post([this, log, stop = m_stop.get_token()] {
    std::vector<doctor::LogSource> sources;
    for (const QString& file : log)
      sources.push_back({.name = file.toStdString(), .path = file.toStdString()});
    auto counts = std::make_shared<doctor::PartCounts>();
    try {
      *counts = doctor::countParts(doctor::LogReader(std::move(sources)), stop);
    } catch (const Failure&) {
      return;
    }
    if (stop.stop_requested()) return;
    QMetaObject::invokeMethod(
        this,
        [this, counts] {
          m_counts = std::move(*counts);
          m_isCounted = true;
          m_proposals = doctor::proposeSpans(m_request, m_counts);
          m_template->setEnabled(true);
          showProposals();
        },
        Qt::QueuedConnection);
  });
}

SpansDialog::~SpansDialog() {
  m_stop.request_stop();
}

QString SpansDialog::risk() const {
  if (const auto log = measured<LogDiagnosisKind>(m_input.measured); log != nullptr) {
    for (const doctor::Way& way : log->report->ways) {
      if (std::string_view(way.key) != "spans" || !way.quality) continue;
      const auto requests = way.quality->requests.size();
      return (requests == 1 ? tr("%1 request: mean KL divergence %2 on %3")
                            : tr("%1 requests: mean KL divergence %2 on %3"))
          .arg(QString::number(requests),
               QString::fromStdString(trace::divergenceText(way.quality->divergence())),
               QString::fromStdString(log->report->qualityModel));
    }
  }
  const auto probe = measured<jobs::ProbeJob>(m_input.measured);
  if (probe == nullptr) return tr("not measured");
  for (const experiment::ProbeRow& row : probe->rows()) {
    if (row.policy != "spans" || row.questions == 0) continue;
    return tr("mean KL divergence %1 on %2")
        .arg(QString::fromStdString(trace::divergenceText(row.meanDivergence)),
             QString::fromStdString(probe->model.name));
  }
  return tr("not measured");
}

void SpansDialog::showProposals() {
  m_list->clear();
  for (const doctor::SpanProposal& proposal : m_proposals) {
    auto* item = new QTreeWidgetItem(
        m_list, {QString::fromStdString(proposal.name), QString::number(proposal.tokens),
                 m_isCounted ? tr("%1 of %2").arg(proposal.shared).arg(proposal.parts) : QStringLiteral("…"),
                 risk()});
    item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsUserCheckable);
    item->setCheckState(0, proposal.byDefault ? Qt::Checked : Qt::Unchecked);
    item->setToolTip(0, kindHelp(proposal.kind));
    for (int number = 1; number <= 2; ++number)
      item->setTextAlignment(number, Qt::AlignRight | Qt::AlignVCenter);
  }
  for (int i = 0; i < m_list->columnCount(); ++i) m_list->resizeColumnToContents(i);
  m_note->setText(
      m_proposals.empty()
          ? tr("No part of the request can become a span. The query has the messages in their original "
               "order.")
          : tr("The risk is a result for spans in other requests, not for these parts. Measure quality in "
               "the Costs dock measures requests of this log. Probe measures the created query."));
}

doctor::SpanQuery SpansDialog::query() const {
  std::vector<doctor::SpanProposal> accepted;
  for (std::size_t i = 0; i < m_proposals.size(); ++i) {
    const QTreeWidgetItem* item = m_list->topLevelItem(static_cast<int>(i));
    if (item != nullptr && item->checkState(0) == Qt::Checked) accepted.push_back(m_proposals[i]);
  }
  return m_template->isChecked() && m_isCounted ? doctor::templateOf(m_request, m_counts, accepted)
                                                : doctor::queryOf(m_request, accepted);
}

}  // namespace spanscope::ui
