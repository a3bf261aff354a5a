// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/commands/command_palette.h"

#include "ui/commands/key_sheet.h"
#include "ui/words/tr.h"

#include <QFontMetricsF>
#include <QGuiApplication>
#include <QKeyEvent>
#include <QKeySequence>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QPainter>
#include <QScreen>
#include <QString>
#include <QTextLayout>
#include <QVBoxLayout>

#include <algorithm>
#include <limits>
#include <utility>

namespace spanscope::ui {

namespace {

constexpr int kWidth = 600;
constexpr int kRows = 9;  ///< visible rows; the list scrolls to more

}  // namespace

CommandPalette::CommandPalette(QWidget* parent)
    : QFrame(parent, Qt::Popup | Qt::FramelessWindowHint),
      m_field(new QLineEdit(this)),
      m_list(new QListView(this)),
      m_count(new QLabel(this)),
      m_nothing(new QLabel(tr("No command matches."), this)),
      m_model(new PaletteModel(this)),
      m_delegate(new PaletteDelegate(this)) {
  setObjectName(QStringLiteral("commandPalette"));
  setAccessibleName(tr("Commands"));
  setFocusProxy(m_field);

  m_field->setPlaceholderText(tr("Find a command…"));
  m_field->setAccessibleName(tr("Find a command"));
  m_field->setClearButtonEnabled(true);
  m_field->installEventFilter(this);

  m_list->setModel(m_model);
  m_list->setItemDelegate(m_delegate);
  m_list->setFrameShape(QFrame::NoFrame);
  m_list->setFocusPolicy(Qt::NoFocus);
  m_list->setUniformItemSizes(true);
  m_list->setMouseTracking(true);
  m_list->setSelectionMode(QAbstractItemView::SingleSelection);
  m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_list->setAccessibleName(tr("Matching commands"));
  m_nothing->setAlignment(Qt::AlignCenter);
  m_nothing->hide();

  auto* hint = new QLabel(tr("↑ ↓ select   ·   Return run   ·   Esc close"), this);
  hint->setObjectName(QStringLiteral("paletteHint"));
  m_count->setAlignment(Qt::AlignRight | Qt::AlignVCenter);

  auto* foot = new QHBoxLayout;
  foot->setContentsMargins(3 * kSpace, kSpace, 3 * kSpace, 2 * kSpace);
  foot->addWidget(hint);
  foot->addStretch();
  foot->addWidget(m_count);
  auto* head = new QHBoxLayout;
  head->setContentsMargins(2 * kSpace, 2 * kSpace, 2 * kSpace, kSpace);
  head->addWidget(m_field);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(1, 1, 1, 1);
  column->setSpacing(0);
  column->addLayout(head);
  column->addWidget(m_list, 1);
  column->addWidget(m_nothing, 1);
  column->addLayout(foot);

  connect(m_field, &QLineEdit::textChanged, this, &CommandPalette::applyFilter);
  connect(m_list, &QListView::clicked, this, [this](const QModelIndex& index) { choose(index.row()); });
  connect(m_list, &QListView::entered, this,
          [this](const QModelIndex& index) { m_list->setCurrentIndex(index); });
  setTheme(m_theme);
}

void CommandPalette::setTheme(const Theme& theme) {
  m_theme = theme;
  m_delegate->setTheme(theme);
  setPalette(theme.palette());
  const auto name = [&theme](Role role) { return theme.color(role).name(); };
  setStyleSheet(QStringLiteral("#commandPalette { background: %1; border: 1px solid %2; border-radius: %3px }"
                               "#commandPalette QListView { border: none; background: %1 }"
                               "#commandPalette QLabel { background: transparent; color: %4 }")
                    .arg(name(Role::Surface), name(Role::Outline))
                    .arg(kDockRadius)
                    .arg(name(Role::TextThird)));
  m_field->setFont(theme.interfaceFont());
  m_nothing->setFont(theme.interfaceFont());
  for (QLabel* label : findChildren<QLabel*>()) {
    if (label != m_nothing) label->setFont(theme.smallFont());
  }
}

void CommandPalette::open(std::vector<PaletteEntry> entries) {
  m_model->setEntries(std::move(entries));
  m_field->clear();
  applyFilter({});
  place();
  show();
  m_field->setFocus(Qt::PopupFocusReason);
}

void CommandPalette::place() {
  const QWidget* window = parentWidget()->window();
  const int width = std::min(kWidth, std::max(320, window->width() - 8 * kSpace));
  const int rows = std::clamp((window->height() - 160) / kPaletteRowHeight, 3, kRows);
  for (QWidget* middle : {static_cast<QWidget*>(m_list), static_cast<QWidget*>(m_nothing)}) {
    middle->setFixedHeight(rows * kPaletteRowHeight);
  }
  layout()->activate();
  resize(width, sizeHint().height());
  const QPoint corner =
      window->mapToGlobal(QPoint((window->width() - width) / 2, std::min(96, window->height() / 8)));
  QFrame::move(corner);
}

void CommandPalette::applyFilter(const QString& wanted) {
  m_model->setFilter(wanted);
  const int rows = m_model->rowCount();
  m_count->setText(rows == 1 ? tr("1 command") : tr("%1 commands").arg(rows));
  m_list->setVisible(rows > 0);
  m_nothing->setVisible(rows == 0);
  // The first available command is selected, so that Return carries out a command if possible.
  int row = 0;
  while (row < rows && !m_model->isEnabledAt(row)) ++row;
  if (rows > 0) m_list->setCurrentIndex(m_model->index(row < rows ? row : 0));
}

void CommandPalette::move(int rows) {
  const int count = m_model->rowCount();
  if (count == 0) return;
  const int current = m_list->currentIndex().row();
  // A step past one end continues at the other end. A page stops at the end.
  const int wanted = current + rows;
  const bool isStep = rows == 1 || rows == -1;
  const int row = isStep ? (wanted + count) % count : std::clamp(wanted, 0, count - 1);
  const QModelIndex index = m_model->index(row);
  m_list->selectionModel()->setCurrentIndex(index, QItemSelectionModel::ClearAndSelect);
  m_list->scrollTo(index);
}

void CommandPalette::choose(int row) {
  if (!m_model->isEnabledAt(row)) return;
  const QString id = m_model->idAt(row);
  // The popup closes first, because the command may open a dialog.
  close();
  Q_EMIT chosen(id);
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event) {
  if (watched != m_field || event->type() != QEvent::KeyPress) return QFrame::eventFilter(watched, event);
  const auto* key = static_cast<QKeyEvent*>(event);
  switch (key->key()) {
    case Qt::Key_Up:
      move(-1);
      return true;
    case Qt::Key_Down:
      move(1);
      return true;
    case Qt::Key_PageUp:
      move(-kRows);
      return true;
    case Qt::Key_PageDown:
      move(kRows);
      return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      choose(m_list->currentIndex().row());
      return true;
    case Qt::Key_Escape:
      close();
      return true;
    default:
      return QFrame::eventFilter(watched, event);
  }
}

namespace {

/// Scores of matches. A match in the help alone has score 0.
constexpr int kInText = 200;        ///< the command's text contains the typed text
constexpr int kOfWords = 150;       ///< search words of the command, or words of its text in another order
constexpr int kScattered = 120;     ///< the typed letters are scattered over the command's text
constexpr int kWithCategory = 100;  ///< the match needs the command's category

/// Other words that users type for a command or a view.
struct SearchWords {
  const char* id;
  QString words;
};

const std::vector<SearchWords>& searchWords() {
  static const std::vector<SearchWords> table{
      {"file.new", tr("create document query")},
      {"file.open", tr("load import")},
      {"file.export", tr("share api code request")},
      {"file.export-view", tr("image png svg csv screenshot")},
      {"file.export-window", tr("image png screenshot")},
      {"file.quit", tr("exit")},
      {"edit.find", tr("search")},
      {"edit.delete", tr("remove")},
      {"node.add", tr("insert create operator")},
      {"node.move-up", tr("swap order reorder earlier before sibling")},
      {"node.move-down", tr("swap order reorder later after sibling")},
      {"node.plus-cross", tr("convert change independent dependent")},
      {"node.replace", tr("convert change type")},
      {"node.mute", tr("disable skip")},
      {"node.freeze", tr("pin cache")},
      {"node.note", tr("comment annotation")},
      {"node.frame", tr("group")},
      {"node.tidy", tr("arrange align layout")},
      {"run.run", tr("start execute generate submit play")},
      {"run.stop", tr("cancel abort interrupt")},
      {"run.rotation", tr("rotation rope rotary position")},
      {"run.next-token", tr("logits probabilities distribution")},
      {"run.fidelity", tr("accuracy divergence quality full prefill")},
      {"run.choose-model", tr("checkpoint gguf weights load")},
      {"run.get-model", tr("download hugging face hub gguf safetensors")},
      {"run.servers", tr("vllm llama.cpp endpoint remote connection")},
      {"run.serve", tr("server api endpoint openai")},
      {"run.clear-cache", tr("reset flush evict cold")},
      {"run.record", tr("trace")},
      {"run.save-trace", tr("trace export recording")},
      {"run.older", tr("previous history time travel")},
      {"run.newer", tr("next history time travel")},
      {"view.theme", tr("dark light mode colour color")},
      {"view.maximise", tr("maximise full screen zoom")},
      {"view.wheel", tr("scroll zoom mouse")},
      {"view.drag", tr("pan scroll mouse")},
      {"view.motion", tr("animation")},
      {"view.reset", tr("restore docks default")},
      {"help.manual", tr("documentation guide")},
      {"help.keys", tr("shortcuts keyboard bindings")},
      {"help.change-keys", tr("shortcuts keyboard bindings")},
      {"view.dock:add", tr("palette operators examples library")},
      {"view.dock:inspector", tr("properties editor text")},
      {"view.dock:json", tr("source code text")},
      {"view.dock:problems", tr("errors warnings validation")},
      {"view.dock:settings", tr("preferences options configuration seed sampling")},
      {"view.dock:tokens", tr("tokenizer segments sections span table")},
      {"view.dock:block-table", tr("virtual logical physical pages")},
      {"view.dock:why", tr("reason explanation hit miss relocated")},
      {"view.dock:pool", tr("kv cache memory eviction lru blocks")},
      {"view.dock:attention", tr("weights heads heat map shares")},
      {"view.dock:mask", tr("block attention causal matrix")},
      {"view.dock:rotation", tr("rotation rotate rope rotary position relocation")},
      {"view.dock:next-token", tr("logits probabilities distribution alternatives")},
      {"view.dock:passages", tr("chunks fragments retrieval augment rag")},
      {"view.dock:output", tr("answers results responses")},
      {"view.dock:prediction", tr("forecast predict estimate cache simulator")},
      {"view.dock:plan", tr("steps rewrite rules lowering")},
      {"view.dock:timeline", tr("schedule gantt batch prefill decode")},
      {"view.dock:metrics", tr("plots numbers latency ttft itl throughput statistics")},
      {"view.dock:benchmark", tr("speed measure cold warm")},
      {"view.dock:policies", tr("compare blend link prefix spans fidelity")},
      {"view.dock:probe", tr("safe checkpoint recommend policy divergence")},
      {"view.dock:experiments", tr("sweep study plot")},
      {"view.dock:compare", tr("difference diff runs")},
      {"view.dock:log", tr("events trace messages")},
      {"view.dock:scrubber", tr("time travel replay history slider")},
  };
  return table;
}

/// Whether every typed word is the beginning of a search word of the command.
bool hasSearchWords(const QString& id, const QString& wanted) {
  const auto own = std::find_if(searchWords().begin(), searchWords().end(),
                                [&id](const SearchWords& each) { return id == QLatin1String(each.id); });
  if (own == searchWords().end()) return false;
  const QStringList known = own->words.split(QLatin1Char(' '));
  const QStringList typed = wanted.split(QLatin1Char(' '));
  return std::all_of(typed.begin(), typed.end(), [&known](const QString& word) {
    return std::any_of(known.begin(), known.end(),
                       [&word](const QString& each) { return each.startsWith(word, Qt::CaseInsensitive); });
  });
}

bool hasWords(const QString& text, const QString& wanted) {
  const QStringList words = wanted.split(QLatin1Char(' '));
  return std::all_of(words.begin(), words.end(),
                     [&text](const QString& word) { return text.contains(word, Qt::CaseInsensitive); });
}

}  // namespace

void PaletteModel::setEntries(std::vector<PaletteEntry> entries) {
  beginResetModel();
  m_entries = std::move(entries);
  m_hits = hits();
  endResetModel();
}

void PaletteModel::setFilter(const QString& wanted) {
  if (wanted == m_filter) return;
  beginResetModel();
  m_filter = wanted;
  m_hits = hits();
  endResetModel();
}

std::vector<PaletteModel::Hit> PaletteModel::hits() const {
  const QString wanted = m_filter.simplified();
  std::vector<Hit> found;
  for (std::size_t i = 0; i < m_entries.size(); ++i) {
    const CommandInfo& info = m_entries[i].info;
    if (wanted.isEmpty()) {
      found.push_back({.entry = i, .score = 0, .matched = {}});
      continue;
    }
    Hit hit{.entry = i, .score = 0, .matched = {}};
    if (m_entries[i].byWords && !hasWords(info.text, wanted)) continue;
    const QString category = categoryTitle(info.category);
    const qsizetype prefix = category.size() + 1;
    if (const auto inText = fuzzyMatch(wanted, info.text)) {
      hit.score = info.text.contains(wanted, Qt::CaseInsensitive)
                      ? kInText + inText->score
                      : std::min(kScattered + inText->score, kOfWords - 1);
      for (const qsizetype place : inText->positions) hit.matched.append(static_cast<int>(place));
    } else if (wanted.size() > 1 && hasSearchWords(info.id, wanted)) {
      hit.score = kOfWords;
    } else if (const auto withCategory =
                   fuzzyMatch(wanted, QString(category + QLatin1Char(' ') + info.text))) {
      hit.score = kWithCategory + withCategory->score;
      for (const qsizetype place : withCategory->positions) {
        if (place >= prefix) hit.matched.append(static_cast<int>(place - prefix));
      }
    } else if (hasWords(info.text, wanted)) {
      hit.score = kOfWords;
    } else if (!info.help.contains(wanted, Qt::CaseInsensitive) &&
               !hasWords(info.text + QLatin1Char(' ') + info.help, wanted)) {
      continue;
    }
    found.push_back(std::move(hit));
  }
  if (wanted.isEmpty()) return found;
  std::stable_sort(found.begin(), found.end(), [this](const Hit& a, const Hit& b) {
    if (a.score != b.score) return a.score > b.score;
    return m_entries[a.entry].info.text.size() < m_entries[b.entry].info.text.size();
  });
  return found;
}

const PaletteModel::Hit* PaletteModel::hitAt(int row) const {
  if (row < 0 || std::cmp_greater_equal(row, m_hits.size())) return nullptr;
  return &m_hits[static_cast<std::size_t>(row)];
}

QString PaletteModel::idAt(int row) const {
  const Hit* hit = hitAt(row);
  return hit == nullptr ? QString() : m_entries[hit->entry].info.id;
}

bool PaletteModel::isEnabledAt(int row) const {
  const Hit* hit = hitAt(row);
  return hit != nullptr && m_entries[hit->entry].enabled;
}

int PaletteModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(m_hits.size());
}

QVariant PaletteModel::data(const QModelIndex& index, int role) const {
  const Hit* hit = index.isValid() ? hitAt(index.row()) : nullptr;
  if (hit == nullptr) return {};
  const PaletteEntry& entry = m_entries[hit->entry];
  const auto keys = [&entry] {
    QStringList shown;
    for (const QString& key : entry.info.keys) {
      shown += QKeySequence(key, QKeySequence::PortableText).toString(QKeySequence::NativeText);
    }
    return shown;
  };
  switch (role) {
    case Qt::DisplayRole:
      return entry.info.text;
    case Qt::ToolTipRole:
    case HelpRole:
      return entry.info.help;
    case Qt::AccessibleTextRole: {
      QString text = tr("%1: %2").arg(categoryTitle(entry.info.category), entry.info.text);
      if (!entry.info.keys.isEmpty()) text += QStringLiteral(", ") + keys().join(QStringLiteral(", "));
      return entry.enabled ? text : tr("%1, unavailable").arg(text);
    }
    case Qt::AccessibleDescriptionRole:
      return entry.info.help;
    case IdRole:
      return entry.info.id;
    case CategoryRole:
      return categoryTitle(entry.info.category);
    case KeysRole:
      return keys();
    case MatchedRole:
      return QVariant::fromValue(hit->matched);
    default:
      return {};
  }
}

Qt::ItemFlags PaletteModel::flags(const QModelIndex& index) const {
  if (!index.isValid()) return Qt::NoItemFlags;
  Qt::ItemFlags flags = Qt::ItemIsSelectable | Qt::ItemNeverHasChildren;
  if (isEnabledAt(index.row())) flags |= Qt::ItemIsEnabled;
  return flags;
}

namespace {

/// Draws the name in one line. Matched letters are bolder and underlined, so colour is not their only mark.
void drawName(QPainter& painter, const QPointF& at, const QString& name, const QList<int>& matched,
              const QFont& font, const QColor& ink, const QColor& mark) {
  QTextLayout layout(name, font);
  QList<QTextLayout::FormatRange> ranges;
  for (const int place : matched) {
    QTextLayout::FormatRange range;
    range.start = place;
    range.length = 1;
    range.format.setFontWeight(QFont::DemiBold);
    range.format.setForeground(mark);
    range.format.setFontUnderline(true);
    ranges.append(range);
  }
  layout.setFormats(ranges);
  layout.beginLayout();
  QTextLine line = layout.createLine();
  if (line.isValid()) line.setLineWidth(10000);
  layout.endLayout();
  painter.setPen(ink);
  layout.draw(&painter, at);
}

}  // namespace

QSize PaletteDelegate::sizeHint(const QStyleOptionViewItem& /*option*/, const QModelIndex& /*index*/) const {
  return {400, kPaletteRowHeight};
}

void PaletteDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                            const QModelIndex& index) const {
  const bool isEnabled = index.flags().testFlag(Qt::ItemIsEnabled);
  const bool isCurrent = option.state.testFlag(QStyle::State_Selected);
  const QRectF row = QRectF(option.rect).adjusted(kSpace, 0, -kSpace, 0);
  painter->save();
  painter->setRenderHint(QPainter::Antialiasing);
  if (isCurrent) {
    painter->setPen(Qt::NoPen);
    painter->setBrush(m_theme.color(Role::AccentFill));
    painter->drawRoundedRect(row, kSpace, kSpace);
    painter->setBrush(m_theme.color(Role::Accent));
    painter->drawRoundedRect(QRectF(row.left(), row.top() + 8, 3, row.height() - 16), 1.5, 1.5);
  }

  const QColor ink = m_theme.color(isEnabled ? Role::Text : Role::TextThird);
  double right = row.right() - 2 * kSpace;
  const QStringList keys = index.data(PaletteModel::KeysRole).toStringList();
  for (auto key = keys.rbegin(); key != keys.rend(); ++key) {
    right -= keyCapWidth(*key, m_theme);
    paintKeyCap(*painter, right, row.center().y(), *key, m_theme);
    right -= kSpace;
  }
  right -= kSpace;

  const double left = row.left() + 3 * kSpace;
  const QFontMetricsF nameMetrics(m_theme.interfaceFont());
  const QString name =
      nameMetrics.elidedText(index.data(Qt::DisplayRole).toString(), Qt::ElideRight, right - left);
  drawName(*painter, QPointF(left, row.top() + kSpace), name,
           index.data(PaletteModel::MatchedRole).value<QList<int>>(), m_theme.interfaceFont(), ink,
           m_theme.color(Role::Accent));

  painter->setFont(m_theme.smallFont());
  const QFontMetricsF small(m_theme.smallFont());
  // The category follows the name of its command.
  const QString category = index.data(PaletteModel::CategoryRole).toString();
  const double nameWidth = nameMetrics.horizontalAdvance(name) + 12;
  if (left + nameWidth + small.horizontalAdvance(category) < right) {
    painter->setPen(m_theme.color(Role::TextThird));
    painter->drawText(QRectF(left + nameWidth, row.top() + kSpace, right - left - nameWidth, 18),
                      Qt::AlignLeft | Qt::AlignVCenter,
                      isEnabled ? category : tr("%1 · unavailable").arg(category));
  }
  painter->setPen(m_theme.color(isEnabled ? Role::TextSecond : Role::TextThird));
  painter->drawText(
      QRectF(left, row.bottom() - 21, right - left, 17), Qt::AlignLeft | Qt::AlignVCenter,
      small.elidedText(index.data(PaletteModel::HelpRole).toString(), Qt::ElideRight, right - left));
  painter->restore();
}

namespace {

constexpr int kMatched = 1;
constexpr int kWordStart = 8;  ///< "sa" finds "Save as" before "Disable all"
constexpr int kTextStart = 4;  ///< extra for the first word
constexpr int kUnbroken = 9;   ///< the letter directly follows the previous letter
constexpr int kImpossible = std::numeric_limits<int>::min() / 2;

bool isWordStart(QStringView text, qsizetype at) {
  if (!text[at].isLetterOrNumber()) return false;
  if (at == 0) return true;
  const QChar before = text[at - 1];
  return !before.isLetterOrNumber() || (before.isLower() && text[at].isUpper());
}

}  // namespace

std::optional<FuzzyMatch> fuzzyMatch(QStringView wanted, QStringView text) {
  QString letters;
  for (const QChar letter : wanted) {
    if (!letter.isSpace()) letters += letter.toCaseFolded();
  }
  if (letters.isEmpty()) return FuzzyMatch{};
  const auto rows = static_cast<std::size_t>(letters.size());
  const auto columns = static_cast<std::size_t>(text.size());
  if (rows > columns) return std::nullopt;

  // best[i][j]: best score of letters 0 … i with letter i at character j. from[i][j]: place of letter i − 1.
  std::vector<std::vector<int>> best(rows, std::vector<int>(columns, kImpossible));
  std::vector<std::vector<std::size_t>> from(rows, std::vector<std::size_t>(columns, 0));
  for (std::size_t i = 0; i < rows; ++i) {
    int bestBefore = kImpossible;  // over places of letter i − 1 before character j − 1
    std::size_t bestPlace = 0;
    for (std::size_t j = i; j < columns; ++j) {
      if (i > 0 && j >= 2 && best[i - 1][j - 2] > bestBefore) {
        bestBefore = best[i - 1][j - 2];
        bestPlace = j - 2;
      }
      const auto at = static_cast<qsizetype>(j);
      if (text[at].toCaseFolded() != letters[static_cast<qsizetype>(i)]) continue;
      int own = kMatched;
      if (isWordStart(text, at)) own += kWordStart + (at == 0 ? kTextStart : 0);
      if (i == 0) {
        best[i][j] = own;
        continue;
      }
      const int unbroken = best[i - 1][j - 1] + kUnbroken;
      const bool next = unbroken >= bestBefore;
      const int before = next ? unbroken : bestBefore;
      if (before <= kImpossible / 2) continue;
      best[i][j] = before + own;
      from[i][j] = next ? j - 1 : bestPlace;
    }
  }

  const std::vector<int>& last = best.back();
  const auto winner = std::max_element(last.begin(), last.end());
  if (*winner <= kImpossible / 2) return std::nullopt;
  FuzzyMatch match{.score = *winner, .positions = std::vector<qsizetype>(rows)};
  auto place = static_cast<std::size_t>(winner - last.begin());
  for (std::size_t i = rows; i-- > 0;) {
    match.positions[i] = static_cast<qsizetype>(place);
    place = from[i][place];
  }
  return match;
}

}  // namespace spanscope::ui
