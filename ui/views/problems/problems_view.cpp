// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/problems/problems_view.h"

#include "engine/base/problem_sentence.h"
#include "engine/compute/backends.h"
#include "engine/workbench/model_names.h"
#include "ui/session/model_choices.h"
#include "ui/views/common/number_text.h"
#include "ui/views/common/text_tools.h"
#include "ui/words/tr.h"

#include <QBoxLayout>
#include <QFontMetrics>
#include <QKeyEvent>
#include <QLabel>
#include <QListView>
#include <QPainter>
#include <QPainterPath>
#include <QPushButton>
#include <QStackedWidget>
#include <QStyledItemDelegate>
#include <QUndoStack>

#include <algorithm>
#include <functional>
#include <utility>

namespace spanscope::ui {

namespace {

constexpr int kRowHeight = 28;
/// Milliseconds without a change until the search begins. In a large query, finding problems takes
/// milliseconds.
constexpr int kPause = 150;
constexpr int kSeverityWidth = 56;

QString ended(const QString& text) {
  return QString::fromStdString(withPeriod(text.toStdString()));
}

/// The button that fixes the problem of each row, by row; null: the row has no button.
using Fixes = std::vector<QPushButton*>;

/// Calls `arranged` when rows have moved.
class ProblemList : public QListView {
 public:
  using QListView::QListView;

  std::function<void()> arranged;

 protected:
  void updateGeometries() override {
    QListView::updateGeometries();
    if (arranged) arranged();
  }
  void scrollContentsBy(int dx, int dy) override {
    QListView::scrollContentsBy(dx, dy);
    if (arranged) arranged();
  }
};

/// Paints a problem: shape, severity in words, what is wrong, how to fix it; the node at the right. The
/// painting leaves room for the button of the row.
class ProblemDelegate : public QStyledItemDelegate {
 public:
  ProblemDelegate(const Fixes& fixes, QObject* parent) : QStyledItemDelegate(parent), m_fixes(fixes) {}

  /// The place of a row's button, from the corner of the row.
  QRect fixOf(const ProblemListModel& model, int row, int width) const {
    return layOut(model.rows().at(static_cast<std::size_t>(row)), row, width).fix;
  }

  void setTheme(const Theme& theme) { m_theme = theme; }

  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const auto* model = dynamic_cast<const ProblemListModel*>(index.model());
    const auto* list = qobject_cast<const QListView*>(option.widget);
    if (model == nullptr || list == nullptr) return {200, kRowHeight};
    const int width = list->viewport()->width();
    const ProblemRow& row = model->rows().at(static_cast<std::size_t>(index.row()));
    return {200, layOut(row, index.row(), width).height};
  }

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const auto* model = dynamic_cast<const ProblemListModel*>(index.model());
    if (model == nullptr) return;
    const ProblemRow& row = model->rows().at(static_cast<std::size_t>(index.row()));
    const RowLayout place = layOut(row, index.row(), option.rect.width());
    const bool isError = row.problem.severity == Severity::Error;
    const QColor ink = m_theme.color(isError ? Role::Error : Role::ComputedInk);
    const QPoint corner = option.rect.topLeft();
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    paintBackground(*painter, option);
    paintSign(*painter, QRectF(corner.x() + 2 * kSpace, corner.y() + kRowHeight / 2 - 7, 14, 14), isError,
              ink);
    painter->setFont(m_theme.interfaceFont());
    painter->setPen(ink);
    painter->drawText(QRect(corner + QPoint(8 * kSpace, 0), QSize(kSeverityWidth, kRowHeight)),
                      Qt::AlignLeft | Qt::AlignVCenter, severityWord(row.problem.severity));
    painter->setFont(m_theme.smallFont());
    painter->setPen(m_theme.color(Role::TextSecond));
    painter->drawText(place.node.translated(corner), Qt::AlignRight | Qt::AlignVCenter, place.nodeText);
    painter->setFont(m_theme.interfaceFont());
    painter->setPen(m_theme.color(Role::Text));
    painter->drawText(place.text.translated(corner), kWrapped, row.problem.text);
    painter->setFont(m_theme.smallFont());
    painter->setPen(m_theme.color(Role::TextThird));
    painter->drawText(place.hint.translated(corner), kWrapped, row.problem.hint);
    painter->restore();
  }

 private:
  static constexpr int kWrapped = Qt::AlignLeft | Qt::AlignVCenter | Qt::TextWordWrap;

  /// The places of the parts of a row, from its upper left corner.
  struct RowLayout {
    QRect text;
    QRect hint;
    QRect node;
    QRect fix;  ///< empty: the row has no button
    QString nodeText;
    int height = kRowHeight;
  };

  QSize fixSize(int row) const {
    const auto index = static_cast<std::size_t>(row);
    return index < m_fixes.size() && m_fixes[index] != nullptr ? m_fixes[index]->sizeHint() : QSize();
  }

  /// Text and hint are side by side if both fit, else one below the other. The button is beside them if a few
  /// words fit there, else below them.
  RowLayout layOut(const ProblemRow& row, int number, int width) const {
    constexpr int kGap = 4 * kSpace;
    constexpr int kLeft = 8 * kSpace + kSeverityWidth;
    constexpr int kFewest = 20 * kSpace;  // min pixels of text, also in a narrow dock
    constexpr int kLeastBeside = 150;     // pixels of text beside a button
    constexpr int kMost = 10'000;         // pixels of height that no sentence takes
    const QFontMetrics normal(m_theme.interfaceFont());
    const QFontMetrics small(m_theme.smallFont());
    RowLayout place;
    place.nodeText = small.elidedText(row.node, Qt::ElideRight, (width - kLeft) / 4);
    const int nodeWidth = place.nodeText.isEmpty() ? 0 : small.horizontalAdvance(place.nodeText) + 1;
    int right = width - 2 * kSpace;
    place.node = QRect(right - nodeWidth, 0, nodeWidth, kRowHeight);
    right -= nodeWidth + (nodeWidth > 0 ? kGap : 0);
    const QSize fix = fixSize(number);
    const bool isBeside = fix.isValid() && right - kLeft - fix.width() - kGap >= kLeastBeside;
    if (isBeside) {
      right -= fix.width();
      place.fix = QRect(QPoint(right, kSpace / 2), fix);
      right -= kGap;
    }
    const int room = std::max(kFewest, right - kLeft);
    const int textWidth = normal.horizontalAdvance(row.problem.text) + 1;
    const int hintWidth = small.horizontalAdvance(row.problem.hint) + 1;
    if (textWidth + (row.problem.hint.isEmpty() ? 0 : kGap + hintWidth) <= room) {
      place.text = QRect(kLeft, 0, textWidth, kRowHeight);
      place.hint = QRect(kLeft + textWidth + kGap, 0, hintWidth, kRowHeight);
    } else {
      const auto heightOf = [room](const QFontMetrics& metrics, const QString& text) {
        return text.isEmpty() ? 0 : metrics.boundingRect(QRect(0, 0, room, kMost), kWrapped, text).height();
      };
      const int above = (kRowHeight - normal.height()) / 2;
      place.text = QRect(kLeft, above, room, heightOf(normal, row.problem.text));
      place.hint = QRect(kLeft, place.text.bottom() + 1, room, heightOf(small, row.problem.hint));
      place.height = std::max(kRowHeight, place.hint.bottom() + 1 + above);
    }
    if (fix.isValid() && !isBeside) {
      // In a narrow dock the button begins further left, if it is wide.
      const int left = std::max(2 * kSpace, std::min(kLeft, width - 2 * kSpace - fix.width()));
      place.fix = QRect(QPoint(left, place.height), fix.boundedTo({width - 2 * kSpace - left, fix.height()}));
    }
    if (fix.isValid()) place.height = std::max(place.height, place.fix.bottom() + 1 + kSpace / 2);
    return place;
  }

  void paintBackground(QPainter& painter, const QStyleOptionViewItem& option) const {
    const bool isSelected = (option.state & QStyle::State_Selected) != 0;
    const bool isHovered = (option.state & QStyle::State_MouseOver) != 0;
    const QRectF row = QRectF(option.rect).adjusted(0.5, 1.5, -0.5, -1.5);
    if (isSelected || isHovered) {
      painter.setPen(Qt::NoPen);
      painter.setBrush(m_theme.color(isSelected ? Role::AccentFill : Role::Canvas));
      painter.drawRoundedRect(row, kSpace, kSpace);
    }
    if (isSelected && (option.state & QStyle::State_HasFocus) != 0) {
      painter.setPen(m_theme.color(Role::Accent));
      painter.setBrush(Qt::NoBrush);
      painter.drawRoundedRect(row, kSpace, kSpace);
    }
  }

  /// Paints a disc with a bar for an error, a triangle for a warning.
  void paintSign(QPainter& painter, const QRectF& area, bool isError, const QColor& ink) const {
    QPainterPath path;
    if (isError) {
      path.addEllipse(area.adjusted(1, 1, -1, -1));
    } else {
      path.moveTo(area.center().x(), area.top() + 1);
      path.lineTo(area.right() - 0.5, area.bottom() - 1);
      path.lineTo(area.left() + 0.5, area.bottom() - 1);
      path.closeSubpath();
    }
    painter.setPen(Qt::NoPen);
    painter.setBrush(ink);
    painter.drawPath(path);
    const QPointF middle = area.center() + QPointF(0, isError ? 0 : 1.5);
    painter.setPen(QPen(m_theme.color(Role::Surface), 1.6, Qt::SolidLine, Qt::RoundCap));
    if (isError) {
      painter.drawLine(middle - QPointF(2.4, 2.4), middle + QPointF(2.4, 2.4));
      painter.drawLine(middle - QPointF(2.4, -2.4), middle + QPointF(2.4, -2.4));
    } else {
      painter.drawLine(middle - QPointF(0, 3), middle + QPointF(0, 0.5));
      painter.drawPoint(middle + QPointF(0, 3));
    }
  }

  const Fixes& m_fixes;
  Theme m_theme;
};

}  // namespace

ProblemsView::ProblemsView(QWidget* parent)
    : InputView(InputPart::Model | InputPart::Prediction, Pace::EveryInput, parent),
      m_list(new ProblemList(this)),
      m_empty(new QLabel(this)),
      m_model(new ProblemListModel(this)),
      m_pages(new QStackedWidget(this)) {
  m_list->setObjectName(QStringLiteral("problems"));
  m_list->setAccessibleName(tr("Problems of the query"));
  m_list->setModel(m_model);
  m_list->setItemDelegate(new ProblemDelegate(m_fixes, m_list));
  m_list->setResizeMode(QListView::Adjust);
  m_list->setVerticalScrollMode(QListView::ScrollPerPixel);
  m_list->setMouseTracking(true);
  m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_list->setMinimumHeight(kRowHeight + 2);
  static_cast<ProblemList*>(m_list)->arranged = [this] { placeFixes(); };
  setFocusPolicy(Qt::ClickFocus);
  m_empty->setObjectName(QStringLiteral("empty"));
  m_empty->setText(tr("The query is complete."));
  m_empty->setWordWrap(true);
  m_empty->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  m_empty->setContentsMargins(3 * kSpace, 3 * kSpace, 3 * kSpace, kSpace);

  m_pages->addWidget(m_list);
  m_pages->addWidget(m_empty);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(kSpace, kSpace, kSpace, kSpace);
  layout->addWidget(m_pages);

  m_later.setSingleShot(true);
  m_later.setInterval(0);
  connect(&m_later, &QTimer::timeout, this, &ProblemsView::find);
  const auto show = [this](const QModelIndex& index) {
    const ProblemRow* row = rowAt(index);
    if (row != nullptr && document().contains(row->problem.node)) wantNode(row->problem.node);
    const bool isOfJson = m_unread != nullptr && m_unread->typed() && index.row() == 0;
    if (isOfJson) Q_EMIT commandWanted(QStringLiteral("view.dock:json"));
  };
  connect(m_list, &QListView::clicked, this, show);
  connect(m_list, &QListView::activated, this, show);
}

void ProblemsView::refresh() {
  static_cast<ProblemDelegate*>(m_list->itemDelegate())->setTheme(theme());
  m_empty->setFont(theme().interfaceFont());
  colorLabel(*m_empty, theme(), Role::TextSecond);
  m_list->viewport()->update();
  m_later.start();
}

void ProblemsView::modelChanged() {
  // After saving, files are searched in the folder of the document.
  m_fixedAt.clear();
  if (model() != nullptr) connect(model(), &DocumentModel::stateChanged, this, [this] { m_later.start(); });
  if (m_unread != nullptr) m_unread->disconnect(this);
  m_unread = model() == nullptr ? nullptr : &UnreadText::of(*model());
  if (m_unread != nullptr) connect(m_unread, &UnreadText::changed, this, [this] { m_later.start(); });
  m_later.setInterval(0);
}

void ProblemsView::find() {
  m_later.setInterval(kPause);
  const auto* devices = input() == nullptr ? nullptr : input()->devices.get();
  const auto* prediction = input() == nullptr ? nullptr : input()->prediction.newest.get();
  // A recorded run does not run again, so its files are not read.
  const std::optional<QString> path = model() == nullptr ? std::nullopt : std::optional(model()->filePath());
  std::vector<Problem> problems =
      m_finder.find(document(), tokenizer(), tokenCounts(), devices, path, document::kNoNode, prediction);
  removeLessonWarnings(model(), problems);
  if (m_unread != nullptr) problems = withUnread(*m_unread, std::move(problems));
  std::vector<ProblemRow> rows = problemRows(document(), std::move(problems));
  m_empty->setText(document().size() > 0 ? tr("The query is complete.")
                                         : tr("The query has no nodes yet. Drop files on the window, paste a "
                                              "text, or press %1 on the canvas.")
                                               .arg(nodeKey()));
  const QString summary = problemSummary(rows);
  // The focus stays in this view when the list appears or disappears.
  const bool hasKeys = m_list->hasFocus() || hasFocus();
  m_pages->setCurrentIndex(rows.empty() ? 1 : 0);
  if (hasKeys && rows.empty()) setFocus();
  if (hasKeys && !rows.empty()) m_list->setFocus();
  setRows(std::move(rows));
  Q_EMIT summaryChanged(summary);
}

/// The key that adds a node.
QString ProblemsView::nodeKey() const {
  const QString key = input() == nullptr ? QString() : input()->keyOf(QStringLiteral("node.add"));
  return key.isEmpty() ? tr("Tab") : key;
}

const ProblemRow* ProblemsView::rowAt(const QModelIndex& index) const {
  if (!index.isValid()) return nullptr;
  return &m_model->rows().at(static_cast<std::size_t>(index.row()));
}

void ProblemsView::setRows(std::vector<ProblemRow> rows) {
  const bool isTyped = m_unread != nullptr && m_unread->typed().has_value();
  if (rows == m_model->rows() && isTyped == m_wasTyped) return;
  m_wasTyped = isTyped;
  // A button that was just pressed must outlive its signal.
  for (QPushButton* button : m_fixes) {
    if (button == nullptr) continue;
    button->hide();
    button->setObjectName({});
    button->deleteLater();
  }
  m_fixes.assign(rows.size(), nullptr);
  for (std::size_t i = 0; i < rows.size() && model() != nullptr; ++i)
    m_fixes[i] = fixOf(rows[i].problem, isTyped && i == 0);
  m_model->setRows(std::move(rows));
  // Heights of rows depend on their buttons.
  m_list->doItemsLayout();
}

/// The button that fixes a problem; null: the user fixes it by hand.
QPushButton* ProblemsView::fixOf(const Problem& problem, bool isOfJson) {
  const auto make = [this](const char* id, const QString& text, const QString& help, auto act) {
    auto* button = new QPushButton(text, m_list->viewport());
    button->setObjectName(QLatin1String(id));
    button->setToolTip(help);
    button->setCursor(Qt::ArrowCursor);
    button->hide();
    connect(button, &QPushButton::clicked, this, [this, act] {
      // The button disappears with its problem. Then the list handles the keys that undo the fix.
      m_list->setFocus();
      act();
    });
    return button;
  };
  if (isOfJson) {
    return make("discardJson", tr("Discard the JSON text"), tr("Show the query of the canvas in JSON"),
                [this] {
                  if (m_unread != nullptr) m_unread->discardTyped();
                });
  }
  if (problem.isOfDevice) {
    return make(
        "useProcessor", tr("Use the CPU"),
        tr("Set the device of the query, from the next run on. Undo restores the earlier device."),
        [this] { fix([this] { chooseDevice(*model(), QString::fromLatin1(compute::kProcessor.name)); }); });
  }
  if (problem.isOfTemplate) {
    return make("chooseTemplate", tr("Chat template…"),
                tr("Show the template of the model, or choose another one"),
                [this] { Q_EMIT commandWanted(QStringLiteral("run.choose-template")); });
  }
  if (problem.poolNeeded > 0) {
    return make("enlargePool", tr("Make the pool %1 blocks").arg(problem.poolNeeded),
                tr("Set the pool size of this query. The next run begins with an empty cache. Undo restores "
                   "the earlier size."),
                [this, blocks = problem.poolNeeded] { enlargePool(blocks); });
  }
  if (problem.otherModel.empty()) return nullptr;
  QPushButton* button = make(
      "runHere", tr("Run here"),
      tr("Run the query on this model, and keep the choice in the query. Undo restores the earlier model."),
      [this, name = problem.otherModel] {
        acceptModel(name);
        Q_EMIT commandWanted(QStringLiteral("run.run"));
      });
  button->setAccessibleName(tr("Run “%1” here on %2")
                                .arg(QString::fromStdString(problem.otherModel),
                                     QString::fromStdString(workbench::modelNameOf(document().settings))));
  return button;
}

/// Puts every button into its row.
void ProblemsView::placeFixes() {
  const auto* delegate = static_cast<const ProblemDelegate*>(m_list->itemDelegate());
  const QRect seen = m_list->viewport()->rect();
  for (std::size_t i = 0; i < m_fixes.size(); ++i) {
    QPushButton* button = m_fixes[i];
    if (button == nullptr || static_cast<int>(i) >= m_model->rowCount()) continue;
    const QRect row = m_list->visualRect(m_model->index(static_cast<int>(i)));
    const QRect place = delegate->fixOf(*m_model, static_cast<int>(i), row.width()).translated(row.topLeft());
    button->setGeometry(place);
    button->setVisible(row.isValid() && seen.intersects(row));
  }
}

void ProblemsView::fix(const std::function<void()>& change) {
  if (model() == nullptr) return;
  const QUndoStack& stack = model()->settingsUndoStack();
  const int before = stack.index();
  change();
  if (stack.index() > before) m_fixedAt[stack.index()] = stack.command(stack.index() - 1);
}

/// The window undoes changes of the query. A fix is a change of settings, and its undo key is here.
bool ProblemsView::event(QEvent* event) {
  const bool isTried = event->type() == QEvent::ShortcutOverride;
  if (!isTried && event->type() != QEvent::KeyPress) return InputView::event(event);
  const auto* key = static_cast<QKeyEvent*>(event);
  const bool isRedo = key->matches(QKeySequence::Redo);
  if ((!isRedo && !key->matches(QKeySequence::Undo)) || !undoFix(isRedo, isTried))
    return InputView::event(event);
  event->accept();
  return true;
}

bool ProblemsView::undoFix(bool isRedo, bool isTried) {
  if (model() == nullptr) return false;
  QUndoStack& stack = model()->settingsUndoStack();
  const int at = stack.index() + (isRedo ? 1 : 0);
  const auto fixed = m_fixedAt.find(at);
  // Later changes of settings may have replaced it.
  if (fixed == m_fixedAt.end() || stack.command(at - 1) != fixed->second) return false;
  if (isTried) return true;
  if (isRedo)
    stack.redo();
  else
    stack.undo();
  return true;
}

void ProblemsView::acceptModel(const std::string& name) {
  fix([&] {
    model()->change(tr("Run %1 here").arg(QString::fromStdString(name)),
                    [&name](document::Document& document) { workbench::standFor(document.settings, name); });
  });
}

void ProblemsView::enlargePool(std::int32_t blocks) {
  fix([&] {
    model()->change(tr("Enlarge the pool"),
                    [blocks](document::Document& document) { document.settings.blockCount = blocks; });
  });
}

QString ProblemsView::csv() const {
  QString text = QStringLiteral("severity,node,problem,hint\n");
  for (const ProblemRow& row : m_model->rows()) {
    text += csvLine({severityWord(row.problem.severity), row.node, row.problem.text, row.problem.hint});
  }
  return text;
}

ViewInfo problemsRow() {
  return {.id = QStringLiteral("problems"),
          .title = tr("Problems"),
          .help = tr("What prevents a run, and what is probably a mistake"),
          .make = makeViewOf<ProblemsView>,
          .places = {{LayoutId::Author, Room::Low, Room::Low, 2, 1, 1, 0},
                     {LayoutId::Author, Room::Middle, Room::Full, 1, 1, 0, 22},
                     {LayoutId::Author, Room::Large, Room::Large, 1, 1, 0, 11}}};
}

std::vector<Problem> listedProblems(const document::Document& document, std::vector<Problem> problems) {
  if (document.size() > 0) return problems;
  const std::vector<Problem> emptiness = findProblems(document::Document());
  std::erase_if(problems, [&emptiness](const Problem& problem) {
    return std::find(emptiness.begin(), emptiness.end(), problem) != emptiness.end();
  });
  return problems;
}

std::vector<ProblemRow> problemRows(const document::Document& document, std::vector<Problem> problems) {
  std::vector<ProblemRow> rows;
  for (Problem& problem : listedProblems(document, std::move(problems))) {
    const document::DocumentNode* node = document.find(problem.node);
    rows.push_back({std::move(problem), node == nullptr ? QString() : nodeLabel(*node)});
  }
  return rows;
}

QString problemSummary(const std::vector<ProblemRow>& rows) {
  const auto errors = std::count_if(rows.begin(), rows.end(), [](const ProblemRow& row) {
    return row.problem.severity == Severity::Error;
  });
  const auto warnings = static_cast<std::ptrdiff_t>(rows.size()) - errors;
  QStringList parts;
  if (errors > 0) parts += errors == 1 ? tr("1 error") : tr("%1 errors").arg(errors);
  if (warnings > 0) parts += warnings == 1 ? tr("1 warning") : tr("%1 warnings").arg(warnings);
  return parts.isEmpty() ? tr("none") : parts.join(tr(", "));
}

QString severityWord(Severity severity) {
  return severity == Severity::Error ? tr("Error") : tr("Warning");
}

void ProblemListModel::setRows(std::vector<ProblemRow> rows) {
  if (rows == m_rows) return;
  beginResetModel();
  m_rows = std::move(rows);
  endResetModel();
}

int ProblemListModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

QVariant ProblemListModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const ProblemRow& row = m_rows.at(static_cast<std::size_t>(index.row()));
  const Problem& problem = row.problem;
  switch (role) {
    case Qt::DisplayRole:
      return problem.text;
    case Qt::ToolTipRole:
      return problem.hint.isEmpty() ? problem.text : ended(problem.text) + QChar(u'\n') + ended(problem.hint);
    case Qt::AccessibleTextRole:
      return tr("%1: %2 %3 %4")
          .arg(severityWord(problem.severity), ended(problem.text), ended(problem.hint), row.node);
    default:
      return {};
  }
}

}  // namespace spanscope::ui
