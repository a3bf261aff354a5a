// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/pool/store_list.h"

#include "engine/experiment/experiment_chart.h"
#include "engine/workbench/run_options.h"
#include "ui/session/load_comparison.h"
#include "ui/views/common/number_text.h"
#include "ui/views/common/text_tools.h"
#include "ui/words/tr.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QPushButton>

#include <algorithm>
#include <map>
#include <string_view>

namespace spanscope::ui {

namespace {

constexpr int kStoreRow = 24;
constexpr int kFewestRows = 2;
constexpr int kLeastText = 160;  ///< min width of the text column

}  // namespace

StoreList::StoreList(QWidget* parent)
    : TableView(tr("Contents of the span store"), RowOrder::Sortable, parent),
      m_cells(new PaintedTableModel(this)) {
  setModel(m_cells);
  hide();
}

void StoreList::showStore(const StoreTable& table, const Theme& theme, int room) {
  const auto rows = static_cast<int>(table.cells.rows.size());
  const bool isNew = m_cells->rowCount() == 0 && rows > 0;
  m_cells->setTable(table.cells);
  setTheme(theme);
  if (isNew) fitColumns(StoreTable::Text, kLeastText);
  const int header = horizontalHeader()->sizeHint().height() + 2;
  setFixedHeight(std::min(header + kStoreRow * rows, std::max(header + kStoreRow * kFewestRows, room / 2)));
  setVisible(rows > 0);
}

namespace {

/// The last report before the shown moment, and the milliseconds since then.
const trace::StoreReported* lastReport(const ViewInput& input, std::int64_t& passed) {
  const std::vector<std::size_t>& reports = input.trace->indicesOf<trace::StoreReported>();
  const auto next = std::lower_bound(reports.begin(), reports.end(), input.position);
  if (next == reports.begin()) return nullptr;
  const trace::Event& event = input.trace->event(*(next - 1));
  passed = (input.trace->event(input.position - 1).time - event.time) / 1'000'000;
  return std::get_if<trace::StoreReported>(&event.payload);
}

/// The texts of the packs in the last report, by pack name.
std::map<std::string_view, std::string_view> packTexts(const ViewInput& input) {
  std::map<std::string_view, std::string_view> texts;
  const std::vector<std::size_t>& reports = input.trace->indicesOf<trace::StoreTextsReported>();
  const auto next = std::lower_bound(reports.begin(), reports.end(), input.position);
  if (next == reports.begin()) return texts;
  const auto* report = std::get_if<trace::StoreTextsReported>(&input.trace->event(*(next - 1)).payload);
  for (const trace::PackText& pack : report->packs) texts.emplace(pack.name, pack.text);
  return texts;
}

QString textOf(const std::map<std::string_view, std::string_view>& texts, const trace::StoredPack& pack) {
  const auto found = texts.find(pack.name);
  if (found == texts.end()) {
    // A row of host memory has all blocks of a model. The texts of these blocks may not be known.
    return pack.tier == trace::StoreTier::Host ? tr("all blocks of this model") : QString();
  }
  return QString::fromUtf8(found->second.data(), static_cast<qsizetype>(found->second.size()));
}

QString sizeText(std::uint64_t bytes) {
  constexpr double kKibibyte = 1 << 10;
  constexpr double kMebibyte = 1 << 20;
  const auto size = static_cast<double>(bytes);
  if (size < kMebibyte) return tr("%1 KiB").arg(size / kKibibyte, 0, 'f', 0);
  return tr("%1 MiB").arg(size / kMebibyte, 0, 'f', size < 100 * kMebibyte ? 1 : 0);
}

QString agoText(std::int64_t milliseconds) {
  constexpr double kSecond = 1000;
  constexpr double kMinute = 60 * kSecond;
  constexpr double kHour = 60 * kMinute;
  constexpr double kDay = 24 * kHour;
  const auto age = static_cast<double>(std::max<std::int64_t>(0, milliseconds));
  if (age < 10 * kSecond) return tr("%1 s ago").arg(age / kSecond, 0, 'f', 1);
  if (age < 2 * kMinute) return tr("%1 s ago").arg(age / kSecond, 0, 'f', 0);
  if (age < 2 * kHour) return tr("%1 min ago").arg(age / kMinute, 0, 'f', 0);
  if (age < 2 * kDay) return tr("%1 h ago").arg(age / kHour, 0, 'f', 0);
  return tr("%1 d ago").arg(age / kDay, 0, 'f', 0);
}

}  // namespace

QString tierName(trace::StoreTier tier) {
  return tier == trace::StoreTier::Disk ? tr("disk") : tr("host memory");
}

QString tierPlace(trace::StoreTier tier) {
  return tier == trace::StoreTier::Disk ? tr("the disk") : tr("host memory");
}

StoreTable storeTable(const ViewInput& input) {
  StoreTable table;
  std::int64_t passed = 0;
  const trace::StoreReported* report = lastReport(input, passed);
  if (report == nullptr) return table;
  const std::map<std::string_view, std::string_view> texts = packTexts(input);
  PaintedTable& cells = table.cells;
  cells.headers = {tr("Tier and model"), tr("Text"),   tr("Blocks"),   tr("Tokens"),
                   tr("Size"),           tr("Stored"), tr("Last used")};
  cells.shares = {3, 6, 1, 1, 2, 1, 1};
  const auto count = [](std::uint64_t value, Role ink, bool isTier) {
    return PaintedCell{.text = QString::number(value),
                       .ink = ink,
                       .bold = isTier,
                       .isRight = true,
                       .raw = QVariant::fromValue(value)};
  };
  QStringList parts;
  int group = 0;
  for (const trace::StoreTierState& tier : report->tiers) {
    cells.rows.push_back({{.text = tierName(tier.tier), .bold = true},
                          {},
                          count(tier.blocks, Role::Text, true),
                          count(tier.tokens, Role::Text, true),
                          {.text = tr("%1 of %2").arg(sizeText(tier.bytes), sizeText(tier.limit)),
                           .bold = true,
                           .raw = QVariant::fromValue(tier.bytes)},
                          {},
                          {}});
    cells.groups.push_back(group++);
    parts << tr("%1 %2 blocks, %3").arg(tierName(tier.tier)).arg(tier.blocks).arg(sizeText(tier.bytes));
    for (const trace::StoredPack& pack : report->packs) {
      if (pack.tier != tier.tier) continue;
      const Role ink = pack.ofThisModel ? Role::TextSecond : Role::TextThird;
      const auto time = [&](std::int64_t age) {
        return PaintedCell{.text = agoText(age + passed), .ink = ink, .raw = QVariant::fromValue(age)};
      };
      QString name = QStringLiteral("    ") + QString::fromStdString(pack.model);
      if (!pack.ofThisModel) name += tr(" (not this session's)");
      const QString text = textOf(texts, pack);
      cells.rows.push_back(
          {{.text = name, .ink = ink},
           {.text = text, .ink = ink, .help = QString(text).replace(tr(" · "), QStringLiteral("\n"))},
           count(pack.blocks, ink, false),
           count(pack.tokens, ink, false),
           {.text = sizeText(pack.bytes), .ink = ink, .raw = QVariant::fromValue(pack.bytes)},
           time(pack.age),
           time(pack.unused)});
      cells.groups.push_back(group);
    }
    ++group;
  }
  table.summary = parts.join(tr(" · "));
  return table;
}

QString storeCsv(const ViewInput& input) {
  QString csv;
  std::int64_t passed = 0;
  const trace::StoreReported* report = lastReport(input, passed);
  if (report == nullptr) return csv;
  const std::map<std::string_view, std::string_view> texts = packTexts(input);
  for (const trace::StoredPack& pack : report->packs) {
    QStringList line{QString::fromStdString(pack.name), tierName(pack.tier), QString(),
                     QString::number(pack.tokens)};
    while (line.size() < 11) line << QString();
    line << QString::fromStdString(pack.model) << QString::number(pack.blocks) << QString::number(pack.bytes)
         << QString::number(pack.age + passed) << QString::number(pack.unused + passed)
         << textOf(texts, pack);
    csv += csvLine(line);
  }
  return csv;
}

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
  return tr(/*id:store-cost*/
            "Loading %1 tokens took %2 ms from host memory and %3 ms from the disk. Without the file in the "
            "system's page cache, loading took %4 ms. Computing the tokens took %5 ms.")
      .arg(timing.tokens)
      .arg(number(timing.host), number(timing.disk), number(timing.coldDisk), number(timing.computed));
}

/// Compares the slowest tier with computing.
QString verdict(const LoadTiming& timing) {
  if (timing.coldDisk < timing.computed)
    return tr(/*id:store-faster*/ "Loading was %1 to %2 times as fast as computing.")
        .arg(number(timing.computed / std::max(timing.coldDisk, std::max(timing.disk, timing.host))),
             number(timing.computed / std::min(timing.disk, timing.host)));
  if (timing.disk < timing.computed)
    return tr(
        /*id:store-faster-computed*/
        "Computing was faster than loading a file that was not in the system's page cache.");
  return tr("Computing was faster than the disk, so this tier does not help for such documents.");
}

}  // namespace

StoreCost storeCost(const ViewInput& input) {
  const QString model = modelOf(input);
  const LoadComparison* load = nullptr;
  if (const auto loads = measured<LoadComparisonKind>(input.measured)) {
    const auto found = loads->byModel.find(model.toStdString());
    if (found != loads->byModel.end()) load = &found->second;
  }
  if (load == nullptr) {
    return {.isMeasured = false,
            .text = tr(/*id:loading-not-compared*/ "Loading has not been compared with computing for %1 yet.")
                        .arg(model),
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
  m_text->setAccessibleName(tr("Loading compared with computing"));
  m_text->setWordWrap(true);
  m_text->setTextFormat(Qt::PlainText);
  m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_measure->setToolTip(
      tr("Run the experiment on the model of this document. Other runs can start between two steps"));
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
