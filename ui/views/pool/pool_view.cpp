// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/pool/pool_view.h"

#include "engine/experiment/experiment_chart.h"
#include "engine/workbench/run_options.h"
#include "ui/session/load_comparison.h"
#include "ui/views/common/block_painter.h"
#include "ui/views/common/number_text.h"
#include "ui/views/common/segment_names.h"
#include "ui/views/common/text_tools.h"
#include "ui/words/metric_words.h"
#include "ui/words/tr.h"

#include <QComboBox>
#include <QFontMetrics>
#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

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
      if (!pack.ofThisModel) name += tr(" (not the model of this session)");
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
  return tr(
      "Computing was faster than loading from the disk, so this tier does not help for such documents.");
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
      tr("Run the experiment on the model of this query. Other runs can start between two steps"));
  connect(m_measure, &QPushButton::clicked, this, &StoreCostStrip::measureWanted);
  hide();
}

void StoreCostStrip::showCost(const StoreCost& cost, const Theme& theme) {
  m_cost = cost;
  m_text->setFont(theme.smallFont());
  colorLabel(*m_text, theme, Role::TextSecond);
  m_text->setText(cost.text);
  m_text->setToolTip(cost.details);
  m_measure->setText(cost.isMeasured ? tr("Repeat experiment") : tr("Run experiment"));
}

PoolView::PoolView(QWidget* parent)
    : InputView(kRunParts | InputPart::WholeTrace | InputPart::Measured, Pace::EveryInput, parent),
      MovingView(this),
      m_area(new PoolArea(this)),
      m_plot(new PoolPlot(this)),
      m_store(new StoreList(this)),
      m_cost(new StoreCostStrip(this)),
      m_detailLabel(new QLabel(this)) {
  setAccessibleName(tr("Pool"));
  setFocusProxy(m_area);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(m_area, 1);
  column->addWidget(m_plot, 1);
  m_plot->hide();
  column->addWidget(m_store);
  column->addWidget(m_cost);
  column->addWidget(m_detailLabel);
  m_detailLabel->setAccessibleName(tr("Selected block"));
  m_detailLabel->setWordWrap(true);
  m_detailLabel->setTextFormat(Qt::PlainText);
  m_detailLabel->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  m_detailLabel->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_detailLabel->setContentsMargins(3 * kSpace, kSpace, 3 * kSpace, 2 * kSpace);
  m_detailLabel->hide();
  m_area->showPool(&m_table, m_shade, kNullBlock, theme());
  m_area->setTips([this](BlockId block) { return input() ? poolTip(*input(), block) : QString(); });
  connect(m_area, &PoolArea::chosen, this, &PoolView::select);
  m_plot->setNames([this](std::size_t event) {
    if (input() == nullptr || event >= input()->trace->size()) return QString();
    return EventNames(*input()).of(input()->trace->event(event));
  });
  connect(m_plot, &PoolPlot::chosen, this, &PoolView::selectEvent);
  connect(m_plot, &PoolPlot::cursorMoved, this, &PoolView::showDetail);
  connect(m_cost, &StoreCostStrip::measureWanted, this,
          [this] { Q_EMIT commandWanted(QStringLiteral("run.experiment:load")); });
}

QWidget* PoolView::takeTitleControls() {
  if (!m_controls) {
    m_controls = new PoolControls;
    connect(m_controls, &PoolControls::shadeWanted, this, &PoolView::setShade);
    connect(m_controls, &PoolControls::overTimeWanted, this, &PoolView::showOverTime);
    showControls();
  }
  return m_controls;
}

void PoolView::showControls() {
  if (!m_controls) return;
  m_controls->showShade(m_shade, m_table, theme());
  if (m_isOverTime) m_controls->showOverTime();
}

void PoolView::showOverTime() {
  setOverTime(true);
}

void PoolView::setOverTime(bool isOverTime) {
  if (isOverTime == m_isOverTime) return;
  m_isOverTime = isOverTime;
  m_area->setVisible(!isOverTime);
  m_plot->setVisible(isOverTime);
  setFocusProxy(isOverTime ? static_cast<QWidget*>(m_plot) : m_area);
  if (input() != nullptr) refresh();
}

void PoolView::setShade(PoolShade shade) {
  setOverTime(false);
  if (m_shade == shade) return;
  m_shade = shade;
  if (input() != nullptr) refresh();
}

const QWidget& PoolView::placesIn() const {
  return *m_area->viewport();
}

std::vector<QRect> PoolView::placesOf(const Selection& part) const {
  if (input() == nullptr || m_isOverTime) return {};
  const BlockId block = physicalOf(part);
  if (block == kNullBlock || static_cast<std::size_t>(block) >= m_table.blocks.size()) return {};
  return {m_area->cell(block).translated(-m_area->offset())};
}

void PoolView::bringIntoSight(const Selection& part) {
  if (input() == nullptr) return;
  setOverTime(false);
  m_area->reveal(physicalOf(part));
}

BlockId PoolView::physicalOf(const Selection& selection) const {
  if (selection.physical != kNullBlock || !selection.block) return selection.physical;
  const auto& requests = input()->state().progress().requests;
  const auto request = requests.find(selection.block->request);
  if (request == requests.end()) return kNullBlock;
  const auto block = request->second.blocks.find({selection.block->segment, selection.block->virtualIndex});
  return block == request->second.blocks.end() ? kNullBlock : block->second.block;
}

void PoolView::refresh() {
  m_history.follow(input()->trace);
  m_table = poolTable(*input(), m_history, m_shade);
  const BlockId block = physicalOf(input()->selection);
  m_detail = block == kNullBlock ? PoolDetail{} : poolDetail(*input(), m_history, block);
  stopMotion();
  m_area->showPool(&m_table, m_shade, block, theme());
  showMotion();
  const StoreTable store = storeTable(*input());
  m_store->showStore(store, theme(), height());
  m_cost->showCost(storeCost(*input()), theme());
  m_cost->setVisible(!store.cells.rows.empty());
  showControls();
  if (m_isOverTime) {
    m_levels.follow(input()->trace);
    m_plot->showLevels(&m_levels, input()->trace->size(), input()->position, theme());
  }

  QPalette colours = m_detailLabel->palette();
  colours.setColor(QPalette::WindowText, theme().color(Role::TextSecond));
  m_detailLabel->setPalette(colours);
  m_detailLabel->setFont(theme().smallFont());
  showDetail();
  m_area->setAccessibleDescription(m_detail.text);
  if (m_revealed != block) {
    m_revealed = block;
    m_area->reveal(block);
  }
  if (m_summary == m_table.summary) return;
  m_summary = m_table.summary;
  Q_EMIT summaryChanged(m_summary);
}

void PoolView::stopMotion() {
  m_area->showMotion(nullptr, 1);
  m_motion.reset();
}

void PoolView::showMotion() {
  if (input() == nullptr || m_isOverTime || !moment().isUnderwayAt(input()->position)) return stopMotion();
  if (!m_motion) m_motion = poolMotion(*input(), moment(), m_history);
  m_area->showMotion(&*m_motion, moment().done);
}

void PoolView::showDetail() {
  QString text = m_detail.text;
  if (m_isOverTime) {
    const std::optional<std::size_t> change = m_plot->current();
    text = change ? m_plot->factsOf(*change) : QString();
  }
  m_detailLabel->setAccessibleName(m_isOverTime ? tr("Selected event") : tr("Selected block"));
  m_detailLabel->setText(text);
  m_detailLabel->setVisible(!text.isEmpty());
}

void PoolView::selectEvent(std::size_t event) {
  if (input() == nullptr || event >= input()->trace->size()) return;
  const trace::Event chosen = input()->trace->event(event);
  const auto& requests = input()->trace->newest().progress().requests;
  const auto request = requests.find(chosen.request);
  const bool hasRequest = request != requests.end();
  const Selection selection =
      hasRequest ? selectionOf(request->second.run, chosen.request, request->second.node) : Selection();
  Q_EMIT positionWanted(event + 1);
  if (hasRequest) Q_EMIT selectionWanted(selection);
}

void PoolView::select(BlockId block) {
  if (input() != nullptr) Q_EMIT selectionWanted(selectionOfPhysical(*input(), m_history, block));
}

QString PoolView::csv() const {
  if (input() == nullptr) return {};
  return m_isOverTime ? poolLevelsCsv(input()->trace) : poolCsv(*input());
}

void PoolView::paintTo(QPainter& painter, const QSize& size) {
  ensureFresh();
  if (m_isOverTime)
    m_plot->paint(painter, QRect(QPoint(), size));
  else
    m_area->paintPicture(painter, size);
}

ViewInfo poolRow() {
  return {.id = QStringLiteral("pool"),
          .title = tr("Pool"),
          .help = tr("Every block of the KV pool, its content and its requests"),
          .make = makeViewOf<PoolView>,
          .needs = {Fact::Pool},
          .places = {{LayoutId::Explain, Room::Low, Room::Low, 0, 1, 2, 0},
                     {LayoutId::Explain, Room::Middle, Room::Large, 0, 2, 1, 0}}};
}

/// The colour ramp of ages, with numbers at its ends.
class AgeScale : public QWidget {
 public:
  using QWidget::QWidget;

  void showScale(double oldest, const Theme& theme) {
    m_oldest = oldest;
    m_theme = theme;
    setAccessibleName(QObject::tr("Age, from now to %1 seconds ago").arg(oldest, 0, 'f', 2));
    updateGeometry();
    update();
  }
  QSize sizeHint() const override {
    const QFontMetrics metrics(m_theme.smallFont());
    return {metrics.horizontalAdvance(newest()) + kRamp + 4 * kSpace + metrics.horizontalAdvance(eldest()),
            20};
  }

 protected:
  void paintEvent(QPaintEvent* /*event*/) override {
    QPainter painter(this);
    painter.setFont(m_theme.smallFont());
    painter.setPen(m_theme.color(Role::TextSecond));
    const QFontMetrics metrics(m_theme.smallFont());
    int x = 0;
    painter.drawText(QRect(x, 0, width(), height()), Qt::AlignVCenter | Qt::AlignLeft, newest());
    x += metrics.horizontalAdvance(newest()) + 2 * kSpace;
    for (int i = 0; i < kRamp; ++i)
      painter.fillRect(QRect(x + i, height() / 2 - 5, 1, 10), Theme::heat(1 - double(i) / (kRamp - 1)));
    x += kRamp + kSpace;
    painter.drawText(QRect(x, 0, width() - x, height()), Qt::AlignVCenter | Qt::AlignLeft, eldest());
  }

 private:
  static constexpr int kRamp = 80;
  static QString newest() { return QObject::tr("now"); }
  QString eldest() const {
    return m_oldest < 1 ? QObject::tr("%1 ms ago").arg(m_oldest * 1000, 0, 'f', 1)
                        : QObject::tr("%1 s ago").arg(m_oldest, 0, 'f', 1);
  }

  double m_oldest = 0;
  Theme m_theme;
};

namespace {

/// The legend of the states that the pool has.
std::vector<BlockLegend::Meaning> poolLegend(const PoolTable& table) {
  std::vector<BlockLegend::Meaning> entries{
      {{.role = BlockRole::Hit}, Theme::name(BlockRole::Hit), tr("A hit of the shown request")},
      {{.role = BlockRole::Relocated},
       Theme::name(BlockRole::Relocated),
       tr("A relocated hit of the shown request"),
       briefName(BlockRole::Relocated)},
      {{.role = BlockRole::Computed},
       Theme::name(BlockRole::Computed),
       tr("Computed for the shown request, or being computed")}};
  // This entry is after hits and computed blocks, where even a narrow title bar has space for it.
  if (table.anyLoaded) entries.push_back(loadedMeaning());
  entries.insert(
      entries.end(),
      {{{.core = BlockCore::Dark},
        metricShortName("blocks-in-use"),
        tr("In use by other requests. An empty frame: another run uses the block")},
       {{.core = BlockCore::Light}, metricShortName("cached-blocks"), metricMeaning("cached-blocks")},
       {{.role = BlockRole::Free}, Theme::name(BlockRole::Free), tr("Empty")}});
  if (table.blocks.empty()) return entries;
  std::set<std::pair<BlockRole, BlockCore>> drawn;
  for (const PoolBlock& block : table.blocks) {
    const BlockLook look = poolLook(block);
    drawn.emplace(look.role, look.core == BlockCore::Frame ? BlockCore::Dark : look.core);
  }
  std::erase_if(entries, [&drawn](const BlockLegend::Meaning& entry) {
    return !entry.look.loaded && !drawn.contains({entry.look.role, entry.look.core});
  });
  return entries;
}

}  // namespace

PoolControls::PoolControls(QWidget* parent)
    : QWidget(parent),
      m_legend(new BlockLegend(poolLegend({}), this)),
      m_scale(new AgeScale(this)),
      m_choice(new QComboBox(this)) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(2 * kSpace);
  row->addWidget(m_legend);
  row->addWidget(m_scale);
  row->addWidget(m_choice);
  m_choice->addItem(tr("by state"), static_cast<int>(PoolShade::State));
  m_choice->addItem(tr("by age"), static_cast<int>(PoolShade::Age));
  m_choice->addItem(tr("over time"));
  m_choice->setAccessibleName(tr("Contents of the view"));
  m_choice->setToolTip(tr("Color the blocks by state or by age, or show the pool over time"));
  m_scale->hide();
  connect(m_choice, &QComboBox::activated, this, [this](int index) {
    if (!m_choice->itemData(index).isValid()) {
      Q_EMIT overTimeWanted();
      return;
    }
    Q_EMIT shadeWanted(static_cast<PoolShade>(m_choice->itemData(index).toInt()));
  });
}

void PoolControls::showShade(PoolShade shade, const PoolTable& table, const Theme& theme) {
  m_legend->setTheme(theme);
  m_legend->setEntries(poolLegend(table));
  m_legend->setVisible(shade == PoolShade::State);
  m_scale->setVisible(shade == PoolShade::Age);
  m_scale->showScale(table.oldest, theme);
  m_choice->setCurrentIndex(m_choice->findData(static_cast<int>(shade)));
}

void PoolControls::showOverTime() {
  m_legend->hide();
  m_scale->hide();
  m_choice->setCurrentIndex(m_choice->count() - 1);
}

}  // namespace spanscope::ui
