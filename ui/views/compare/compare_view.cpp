// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/compare/compare_view.h"

#include "ui/views/common/text_tools.h"
#include "ui/views/common/wrapping_row.h"
#include "ui/words/tr.h"

#include <QCheckBox>
#include <QComboBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPainter>
#include <QScrollArea>
#include <QStackedWidget>
#include <QStyle>
#include <QTabBar>
#include <QTextCursor>
#include <QVBoxLayout>

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <utility>

namespace spanscope::ui {

namespace {

constexpr std::size_t kColumns = 4;
constexpr int kBoxCharacters = 22;
constexpr int kPad = 4;        ///< pixels beside the text of a cell
constexpr int kMostLines = 3;  ///< of a long text, such as an answer; the tool tip has the whole text

Role inkOf(const CompareRow& row) {
  switch (row.verdict) {
    case Verdict::Better:
      return Role::HitInk;
    case Verdict::Worse:
      return Role::ComputedInk;
    case Verdict::Differs:
      return Role::RelocatedInk;
    case Verdict::Same:
    case Verdict::None:
      break;
  }
  return Role::TextThird;
}

}  // namespace

CompareView::CompareView(QWidget* parent)
    : RunView(parent),
      m_table(new TableView(tr("Two runs side by side"), RowOrder::Sortable, this)),
      m_rows(new PaintedTableModel(this)) {
  setAccessibleName(tr("Compare"));
  m_table->setModel(m_rows);
  m_table->setWordWrap(true);
  m_table->horizontalHeader()->setStretchLastSection(false);
  m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  m_table->viewport()->installEventFilter(this);
  m_table->setRowHeight(26);
  m_table->verticalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  m_answers = new AnswerPair;
  m_trees = new TreePair;
  m_blocks = new BlockStrips;
  auto* blocks = new QScrollArea;
  blocks->setWidget(m_blocks);
  blocks->setWidgetResizable(true);
  blocks->setFrameShape(QFrame::NoFrame);
  m_head = new QWidget(this);
  m_tabs = new QTabBar(m_head);
  m_tabs->setAccessibleName(tr("Contents of the comparison"));
  m_tabs->setDrawBase(false);
  m_tabs->setExpanding(false);
  // All tabs fit into the narrowest dock.
  m_tabs->setProperty("isNarrow", true);
  auto* beside = new QWidget(m_head);
  auto* besideRow = new QHBoxLayout(beside);
  besideRow->setContentsMargins(2 * kSpace, 0, 2 * kSpace, 0);
  m_onlyDifferences = new QCheckBox(tr("Only differences"), beside);
  besideRow->addWidget(m_onlyDifferences);
  m_onlyDifferences->setToolTip(tr("Show only rows in which the runs differ"));
  auto* head = new WrappingRow(m_head);
  head->addWidget(m_tabs);
  head->addWidget(beside);
  m_pages = new QStackedWidget(this);
  const std::array<std::pair<QString, QWidget*>, 4> pages = {{{tr("Metrics"), m_table},
                                                              {tr("Answers"), m_answers},
                                                              {tr("Queries"), m_trees},
                                                              {tr("Blocks"), blocks}}};
  for (const auto& [title, page] : pages) {
    m_tabs->addTab(title);
    m_pages->addWidget(page);
  }
  connect(m_tabs, &QTabBar::currentChanged, this, [this, beside](int page) {
    m_pages->setCurrentIndex(page);
    beside->setVisible(m_pages->currentWidget() == m_table);
  });
  connect(m_onlyDifferences, &QCheckBox::toggled, this, [this] {
    if (input() == nullptr) return;
    m_rows->setTable(table());
    fitColumns();
  });
  m_likeness = new QLabel(this);
  m_likeness->setWordWrap(true);
  m_likeness->setContentsMargins(3 * kSpace, 0, 3 * kSpace, kSpace);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, kSpace, 0, 0);
  layout->setSpacing(kSpace);
  layout->addWidget(m_head);
  layout->addWidget(m_likeness);
  layout->addWidget(m_pages, 1);
  for (QWidget* part : parts()) part->hide();

  QHBoxLayout* row = titleRow();
  row->parentWidget()->hide();
  m_leftBox = new QComboBox(row->parentWidget());
  m_leftBox->setAccessibleName(tr("Run on the left"));
  m_rightBox = new QComboBox(row->parentWidget());
  m_rightBox->setAccessibleName(tr("Run on the right"));
  row->addWidget(m_leftBox);
  row->addWidget(new QLabel(tr("with"), row->parentWidget()));
  row->addWidget(m_rightBox);
  for (const QPointer<QComboBox>& box : {m_leftBox, m_rightBox}) {
    box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    box->setMinimumContentsLength(kBoxCharacters - 4);
    connect(box, &QComboBox::currentIndexChanged, this, [this] {
      if (m_filling || !m_leftBox || !m_rightBox) return;
      setRuns(m_leftBox->currentData().toUInt(), m_rightBox->currentData().toUInt());
      Q_EMIT performed(compareRuns(m_left, m_right));
    });
  }
}

void CompareView::perform(const QString& command) {
  if (const auto runs = comparedRuns(command)) setRuns(runs->first, runs->second);
  if (command == QLatin1String("compare.differences")) showOnlyDifferences(true);
  if (command == QLatin1String("compare.all")) showOnlyDifferences(false);
}

std::array<QWidget*, 3> CompareView::parts() const {
  return {m_head, m_likeness, m_pages};
}

void CompareView::setPage(int page) {
  m_tabs->setCurrentIndex(page);
}

void CompareView::showOnlyDifferences(bool isOnly) {
  m_onlyDifferences->setChecked(isOnly);
}

void CompareView::setRuns(RunId left, RunId right) {
  m_left = left;
  m_right = right;
  if (input() != nullptr) refresh();
}

QString CompareView::emptyText() const {
  if (!m_model.rows.empty()) return {};
  if (m_model.runs.size() > 1)
    return tr("This query has not run yet. Run the query twice, or choose two runs in the title bar.");
  return tr(
      "Run a query twice, e.g. with its documents swapped or with another policy, to compare the runs.");
}

void CompareView::refresh() {
  CompareModel model = compareModel(*input(), m_meters, m_left, m_right);
  const bool same = model == m_model && m_shown == input()->theme;
  m_model = std::move(model);
  for (QWidget* part : parts()) part->setVisible(!m_model.rows.empty());
  if (same) return;
  if (m_shown != input()->theme) {
    m_table->setTheme(theme());
    m_table->setStyleSheet(m_table->styleSheet() +
                           QStringLiteral("QTableView::item { padding: 2px %1px; }").arg(kPad));
  }
  m_shown = input()->theme;
  fillChoices();
  m_rows->setTable(table());
  fitColumns();
  m_answers->setContent(m_model, theme());
  m_trees->setContent(m_model, theme());
  m_blocks->setContent(m_model, theme());
  m_likeness->setText(likenessText(m_model));
  m_likeness->setFont(theme().smallFont());
  colorLabel(*m_likeness, theme(), m_model.isLike ? Role::TextSecond : Role::ComputedInk);
  update();
}

void CompareView::fillChoices() {
  if (!m_leftBox || !m_rightBox) return;
  m_filling = true;
  for (const QPointer<QComboBox>& box : {m_leftBox, m_rightBox}) {
    bool same = box->count() == static_cast<int>(m_model.runs.size());
    for (int i = 0; same && i < box->count(); ++i) {
      same = box->itemData(i, Qt::ToolTipRole).toString() == m_model.labels[static_cast<std::size_t>(i)];
    }
    if (!same) {
      box->clear();
      for (std::size_t i = 0; i < m_model.runs.size(); ++i) {
        // A label that does not fit into the closed box is in the tool tip of its entry.
        const int room = box->fontMetrics().averageCharWidth() * (kBoxCharacters - 5);
        box->addItem(box->fontMetrics().elidedText(m_model.labels[i], Qt::ElideRight, room), m_model.runs[i]);
        box->setItemData(box->count() - 1, m_model.labels[i], Qt::ToolTipRole);
      }
    }
    box->setCurrentIndex(box->findData(box == m_leftBox ? m_model.left : m_model.right));
  }
  // With fewer than two runs there is nothing to choose.
  m_leftBox->parentWidget()->setVisible(m_model.runs.size() > 1);
  m_filling = false;
}

PaintedTable CompareView::table() const {
  // The rows name document, model and policy.
  PaintedTable table{.headers = {QString(), m_model.leftName, m_model.rightName, tr("Change")},
                     .shares = {4, 7, 7, 3},
                     .rows = {},
                     .headerHelps = {QString(), m_model.leftTitle, m_model.rightTitle}};
  for (const CompareRow& row : m_onlyDifferences->isChecked() ? differingRows(m_model) : m_model.rows) {
    // A narrow dock may have no space for the whole text.
    const auto value = [&row](const QString& text, const std::optional<double>& number) {
      return PaintedCell{.text = text,
                         .mono = !row.text,
                         .help = row.text ? text + QLatin1Char('\n') + row.help : row.help,
                         .raw = number ? QVariant(*number) : QVariant()};
    };
    PaintedCell change{.text = row.change, .ink = inkOf(row), .mono = !row.text, .help = row.help};
    if (row.leftValue && row.rightValue && *row.leftValue != 0)
      change.raw = (*row.rightValue - *row.leftValue) / *row.leftValue;
    table.rows.push_back({{.text = row.name, .ink = Role::TextSecond, .help = row.help},
                          value(row.left, row.leftValue),
                          value(row.right, row.rightValue),
                          change});
  }
  return table;
}

/// Values get their full width first, because the other columns can wrap between words.
void CompareView::fitColumns() {
  const int margin = style()->pixelMetric(QStyle::PM_FocusFrameHMargin, nullptr, m_table) + 1;
  const int pads = 2 * (kPad + margin) + 1;
  std::array<int, kColumns> wanted{};
  std::array<int, kColumns> least{};  // of the longest word
  for (std::size_t column = 0; column < kColumns; ++column) {
    const auto measure = [&](const QString& text, const QFontMetrics& metrics) {
      wanted[column] = std::max(wanted[column], metrics.horizontalAdvance(text) + pads);
      // Names of metrics may break after a hyphen, values not.
      QString parts = text;
      if (column == 0) parts.replace(QLatin1Char('-'), QStringLiteral("- "));
      for (const QString& word : parts.split(QLatin1Char(' ')))
        least[column] = std::max(least[column], metrics.horizontalAdvance(word) + pads);
    };
    for (const std::vector<PaintedCell>& row : m_rows->table().rows)
      measure(row[column].text,
              QFontMetrics(row[column].mono ? theme().monoFont() : theme().interfaceFont()));
    if (!m_rows->table().headers.empty()) measure(m_rows->table().headers[column], m_table->fontMetrics());
  }
  const int room = m_table->viewport()->width();
  std::array<int, kColumns> widths = wanted;
  const auto excess = [&widths, room] { return std::accumulate(widths.begin(), widths.end(), -room); };
  // A long answer takes room from the names only if the names need much of the room.
  if (wanted[0] > room / 4) widths[0] = std::max({least[0], room / 4, wanted[0] - std::max(0, excess())});
  // The table measures the height of a row without all its margins. So a name that almost fits would be cut
  // instead of wrapped.
  if (widths[0] < wanted[0]) widths[0] = std::max(least[0], std::min(widths[0], wanted[0] - pads));
  widths[3] = std::max(least[3], wanted[3] - std::max(0, excess()));
  // The two value columns share the width that is left or missing.
  const int values = std::max(0, room - widths[0] - widths[3]);
  const int missing = widths[1] + widths[2] - values;
  widths[1] =
      missing <= 0 ? values / 2 : std::clamp(values - widths[2], std::min(widths[1], values / 2), widths[1]);
  widths[2] = values - widths[1];
  for (std::size_t c = 0; c < kColumns; ++c) m_table->setColumnWidth(static_cast<int>(c), widths[c]);
  const int lines = kMostLines * QFontMetrics(theme().interfaceFont()).lineSpacing();
  m_table->verticalHeader()->setMaximumSectionSize(lines + 2 * kPad);
  m_table->resizeRowsToContents();
}

bool CompareView::eventFilter(QObject* watched, QEvent* event) {
  if (watched == m_table->viewport() && event->type() == QEvent::Resize) fitColumns();
  return RunView::eventFilter(watched, event);
}

QString CompareView::csv() const {
  if (input() == nullptr) return {};
  const CompareModel model = compareModel(*input(), m_left, m_right);
  return model.rows.empty() ? QString() : compareCsv(model);
}

void CompareView::paintTo(QPainter& painter, const QSize& size) {
  if (input() != nullptr) refresh();
  if (!paintIfEmpty(painter, size)) paintTableInto(painter, size, m_rows->table(), theme());
}

ViewInfo compareRow() {
  return {.id = QStringLiteral("compare"),
          .title = tr("Compare"),
          .help = tr("Two runs side by side"),
          .make = makeViewOf<CompareView>,
          .needs = {Fact::CachedTokens, Fact::TokenTimes},
          .places = {{LayoutId::Measure, Room::Low, Room::Low, 1, 0, 0, 100},
                     {LayoutId::Measure, Room::Middle, Room::Large, 1, 0, 0, 55}}};
}

namespace {

constexpr int kCell = 12;  ///< pitch of blocks, gap included
constexpr int kIndent = 3;

QTextEdit* makeText(QWidget* parent, const QString& name) {
  auto* text = new QTextEdit(parent);
  text->setReadOnly(true);
  text->setAccessibleName(name);
  text->setFrameShape(QFrame::NoFrame);
  text->setTabChangesFocus(true);
  return text;
}

void fillText(QTextEdit& edit, const QString& title, const std::vector<DiffPiece>& pieces, DiffKind own,
              const Theme& theme) {
  edit.clear();
  QTextCursor cursor(edit.document());
  QTextCharFormat heading;
  heading.setForeground(theme.color(Role::TextSecond));
  heading.setFont(theme.smallFont());
  cursor.insertText(title + QLatin1Char('\n'), heading);
  QTextCharFormat plain;
  plain.setForeground(theme.color(Role::Text));
  plain.setFont(theme.interfaceFont());
  QTextCharFormat marked = plain;
  marked.setBackground(theme.color(Role::RelocatedFill));
  marked.setFontUnderline(true);
  for (const DiffPiece& piece : pieces) {
    if (piece.kind != DiffKind::Same && piece.kind != own) continue;
    cursor.insertText(piece.text, piece.kind == DiffKind::Same ? plain : marked);
  }
  if (pieces.empty()) cursor.insertText(AnswerPair::tr("No answer."), plain);
  edit.moveCursor(QTextCursor::Start);
}

Role inkOf(DiffKind kind) {
  switch (kind) {
    case DiffKind::Left:
      return Role::ComputedInk;
    case DiffKind::Right:
      return Role::HitInk;
    case DiffKind::Moved:
      return Role::RelocatedInk;
    case DiffKind::Same:
      break;
  }
  return Role::TextSecond;
}

QString tipOf(DiffKind kind) {
  switch (kind) {
    case DiffKind::Left:
      return TreePair::tr("Only on the left");
    case DiffKind::Right:
      return TreePair::tr("Only on the right");
    case DiffKind::Moved:
      return TreePair::tr("On both sides, at different places");
    case DiffKind::Same:
      break;
  }
  return TreePair::tr("The same on both sides");
}

}  // namespace

QString signOf(DiffKind kind) {
  switch (kind) {
    case DiffKind::Left:
      return QStringLiteral("−");
    case DiffKind::Right:
      return QStringLiteral("+");
    case DiffKind::Moved:
      return QStringLiteral("↕");
    case DiffKind::Same:
      break;
  }
  return {};
}

AnswerPair::AnswerPair(QWidget* parent)
    : QWidget(parent),
      m_left(makeText(this, tr("Answer of the run on the left"))),
      m_right(makeText(this, tr("Answer of the run on the right"))) {
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(2 * kSpace, kSpace, 2 * kSpace, kSpace);
  layout->setSpacing(2 * kSpace);
  layout->addWidget(m_left);
  layout->addWidget(m_right);
}

void AnswerPair::setContent(const CompareModel& model, const Theme& theme) {
  fillText(*m_left, model.leftTitle, model.answers, DiffKind::Left, theme);
  fillText(*m_right, model.rightTitle, model.answers, DiffKind::Right, theme);
}

TreePair::TreePair(QWidget* parent)
    : QWidget(parent),
      m_table(new TableView(tr("The two queries, one line per node"), RowOrder::Fixed, this)),
      m_rows(new PaintedTableModel(this)) {
  m_table->setModel(m_rows);
  m_table->horizontalHeader()->setStretchLastSection(false);
  m_table->horizontalHeader()->setMinimumSectionSize(20);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(m_table);
}

void TreePair::setContent(const CompareModel& model, const Theme& theme) {
  PaintedTable table{
      .headers = {QString(), model.leftTitle, QString(), model.rightTitle}, .shares = {}, .rows = {}};
  for (const TreeDiffRow& row : model.trees) {
    const bool onLeft = row.kind != DiffKind::Right && !row.left.isEmpty();
    const bool onRight = row.kind != DiffKind::Left && !row.right.isEmpty();
    const auto cell = [&row](const QString& text, const QString& whole) {
      return PaintedCell{
          .text = text,
          .ink = inkOf(row.kind),
          .help = whole.isEmpty() ? tipOf(row.kind) : tipOf(row.kind) + QLatin1Char('\n') + whole};
    };
    const QString left = QString(kIndent * row.leftDepth, QLatin1Char(' ')) + row.left.simplified();
    const QString right = QString(kIndent * row.rightDepth, QLatin1Char(' ')) + row.right.simplified();
    table.rows.push_back({cell(onLeft ? signOf(row.kind) : QString(), row.left), cell(left, row.left),
                          cell(onRight ? signOf(row.kind) : QString(), row.right), cell(right, row.right)});
  }
  m_table->setTheme(theme);
  m_rows->setTable(std::move(table));
  for (const int column : {0, 2}) {
    m_table->setColumnWidth(column, 24);
    m_table->horizontalHeader()->setSectionResizeMode(column + 1, QHeaderView::Stretch);
  }
}

QString rolesText(const std::vector<BlockRole>& roles) {
  constexpr std::array kShown = {BlockRole::Hit, BlockRole::Relocated, BlockRole::Computed};
  QStringList parts;
  for (const BlockRole role : kShown) {
    const auto count = std::count(roles.begin(), roles.end(), role);
    if (count > 0) parts += BlockStrips::tr("%1 %2").arg(count).arg(Theme::name(role));
  }
  return parts.isEmpty() ? BlockStrips::tr("no blocks") : parts.join(BlockStrips::tr(" · "));
}

QString stepText(const StepBlocks& step) {
  QString text = rolesText(step.roles);
  // The outcome is first, because the end of a long line may be cut.
  if (!step.ending.isEmpty()) text = BlockStrips::tr("%1 · %2").arg(step.ending, text);
  if (step.left == 1) text = BlockStrips::tr("%1 · 1 block not computed").arg(text);
  if (step.left > 1) text = BlockStrips::tr("%1 · %2 blocks not computed").arg(text).arg(step.left);
  return text;
}

BlockStrips::BlockStrips(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Blocks of the two runs"));
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Minimum);
}

void BlockStrips::setContent(const CompareModel& model, const Theme& theme) {
  m_model = model;
  m_painter.setTheme(theme);
  QStringList said;
  for (const BlockPair& pair : model.blocks) {
    const StepBlocks& step = pair.left ? *pair.left : *pair.right;
    said += tr("%1: %2; %3")
                .arg(step.name, pair.left ? stepText(*pair.left) : tr("none"),
                     pair.right ? stepText(*pair.right) : tr("none"));
  }
  setAccessibleDescription(said.join(QLatin1Char('\n')));
  setMinimumHeight(layOut(nullptr, width()));
  update();
}

int BlockStrips::layOut(QPainter* painter, int width) const {
  const Theme& theme = m_painter.theme();
  const int column = std::max(8 * kCell, (width - 6 * kSpace) / 2);
  const int columns = std::max(1, column / kCell);
  const int line = QFontMetrics(theme.smallFont()).height() + kSpace;
  int y = 2 * kSpace;
  if (painter != nullptr) painter->setFont(theme.smallFont());
  const auto textAt = [&](int x, int top, const QString& text, Role ink) {
    if (painter == nullptr) return;
    painter->setPen(theme.color(ink));
    painter->drawText(QRect(x, top, column, line), Qt::AlignLeft | Qt::AlignVCenter,
                      painter->fontMetrics().elidedText(text, Qt::ElideRight, column));
  };
  const std::array lefts = {2 * kSpace, 4 * kSpace + column};
  textAt(lefts[0], y, m_model.leftTitle, Role::TextSecond);
  textAt(lefts[1], y, m_model.rightTitle, Role::TextSecond);
  y += line + kSpace;
  if (!m_model.hasBlocks) {
    textAt(lefts[0], y, tr("The trace of one run is no longer in memory. Only the metrics are left."),
           Role::TextSecond);
    return y + line;
  }
  for (const BlockPair& pair : m_model.blocks) {
    int height = 0;
    const std::array sides = {&pair.left, &pair.right};
    for (std::size_t side = 0; side < sides.size(); ++side) {
      const std::optional<StepBlocks>& step = *sides[side];
      if (!step) {
        textAt(lefts[side], y, tr("no such step"), Role::TextThird);
        continue;
      }
      textAt(lefts[side], y, tr("%1: %2").arg(step->name, stepText(*step)), Role::Text);
      const int count = static_cast<int>(step->roles.size());
      for (int i = 0; painter != nullptr && i < count; ++i) {
        const QRect place(lefts[side] + i % columns * kCell, y + line + i / columns * kCell, kCell - 2,
                          kCell - 2);
        m_painter.stamp(*painter, place, {.role = step->roles[static_cast<std::size_t>(i)]});
      }
      height = std::max(height, (count + columns - 1) / columns * kCell);
    }
    y += line + height + 2 * kSpace;
  }
  return y;
}

QSize BlockStrips::sizeHint() const {
  return {400, layOut(nullptr, 400)};
}

void BlockStrips::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.fillRect(rect(), m_painter.theme().color(Role::Surface));
  layOut(&painter, width());
}

void BlockStrips::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  setMinimumHeight(layOut(nullptr, width()));
}

}  // namespace spanscope::ui
