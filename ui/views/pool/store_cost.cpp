// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/pool/store_cost.h"

#include "engine/experiment/experiment_chart.h"
#include "engine/workbench/run_options.h"
#include "ui/session/load_comparison.h"
#include "ui/views/common/text_tools.h"
#include "ui/words/tr.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QPushButton>

namespace spanscope::ui {
namespace {

constexpr std::int32_t kUsualTokens = 512;

QString number(double value) {
  return QString::fromStdString(experiment::shortNumber(value));
}

QString modelOf(const ViewInput& input) {
  const std::filesystem::path directory = workbench::modelDirectoryOf(input.document->settings);
  return QString::fromStdString(
      (directory.has_filename() ? directory : directory.parent_path()).filename().string());
}

QString sentence(const LoadTiming& timing) {
  return tr("Loading %1 tokens took %2 ms from host memory, %3 ms from the disk (%4 ms where the system had "
            "forgotten the file); computing them %5 ms.")
      .arg(timing.tokens)
      .arg(number(timing.host), number(timing.disk), number(timing.coldDisk), number(timing.computed));
}

/// The verdict, from how the slowest tier compares with computing.
QString verdict(const LoadTiming& timing) {
  if (timing.coldDisk < timing.computed)
    return tr("Loading was %1 to %2 times as fast.")
        .arg(number(timing.computed / std::max(timing.coldDisk, std::max(timing.disk, timing.host))),
             number(timing.computed / std::min(timing.disk, timing.host)));
  if (timing.disk < timing.computed)
    return tr("From a file that the system has forgotten, computing was faster.");
  return tr("Computing was faster than the disk: that tier is not worth it for such documents.");
}

}  // namespace

StoreCost storeCost(const ViewInput& input) {
  const QString model = modelOf(input);
  const LoadComparison* load = nullptr;
  if (input.loads) {
    const auto found = input.loads->byModel.find(model.toStdString());
    if (found != input.loads->byModel.end()) load = &found->second;
  }
  if (load == nullptr) {
    return {
        .isMeasured = false,
        .text =
            tr("Whether loading is faster than computing has not been measured here for %1 yet.").arg(model),
        .details = {}};
  }
  StoreCost cost{.isMeasured = true, .text = {}, .details = {}};
  const LoadTiming& usual = load->near(kUsualTokens);
  cost.text = tr("%1 %2 Measured here with %3 on %4, %5.")
                  .arg(sentence(usual), verdict(usual), model, QString::fromStdString(load->machine),
                       QLocale().toString(load->measured.toLocalTime(), QLocale::ShortFormat));
  QStringList lines;
  for (const LoadTiming& timing : load->timings) lines += sentence(timing);
  cost.details = lines.join(QLatin1Char('\n'));
  return cost;
}

StoreCostStrip::StoreCostStrip(QWidget* parent)
    : QWidget(parent), m_text(new QLabel(this)), m_measure(new QPushButton(this)) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(3 * kSpace, kSpace, 3 * kSpace, kSpace);
  row->setSpacing(2 * kSpace);
  row->addWidget(m_text, 1);
  row->addWidget(m_measure);
  m_text->setAccessibleName(tr("Loading beside computing"));
  m_text->setWordWrap(true);
  m_text->setTextFormat(Qt::PlainText);
  m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_measure->setToolTip(
      tr("Runs the experiment on the model of this document; other runs pass between two of its steps"));
  connect(m_measure, &QPushButton::clicked, this, &StoreCostStrip::measureWanted);
  hide();
}

void StoreCostStrip::showCost(const StoreCost& cost, const Theme& theme) {
  m_cost = cost;
  m_text->setFont(theme.smallFont());
  colorLabel(*m_text, theme, Role::TextSecond);
  m_text->setText(cost.text);
  m_text->setToolTip(cost.details);
  m_measure->setText(cost.isMeasured ? tr("Measure again") : tr("Measure"));
}

}  // namespace spanscope::ui
