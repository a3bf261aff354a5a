// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/inspector/inspector_view.h"

#include "engine/query/node_parts.h"
#include "engine/workbench/document/edits.h"
#include "ui/document/problems.h"
#include "ui/operators/operator_table.h"
#include "ui/views/common/text_tools.h"
#include "ui/views/inspector/generate_section.h"
#include "ui/views/inspector/parameter_section.h"
#include "ui/words/tr.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QStackedLayout>
#include <QVBoxLayout>

#include <utility>

namespace spanscope::ui {

MapInputsEditor::MapInputsEditor(QWidget* parent)
    : QWidget(parent),
      m_model(new MapInputsModel(this)),
      m_label(new QLabel(tr("Inputs, one answer each"), this)),
      m_list(new QListView(this)),
      m_buttons(new QGridLayout),
      m_add(new QPushButton(tr("Add"), this)),
      m_remove(new QPushButton(tr("Remove"), this)),
      m_up(new QPushButton(tr("Up"), this)),
      m_down(new QPushButton(tr("Down"), this)) {
  m_list->setObjectName(QStringLiteral("inputs"));
  m_list->setAccessibleName(tr("Inputs of the map"));
  m_list->setModel(m_model);
  m_list->setEditTriggers(QAbstractItemView::DoubleClicked | QAbstractItemView::EditKeyPressed |
                          QAbstractItemView::AnyKeyPressed);
  m_list->setMinimumHeight(24 * kSpace);
  m_list->setMaximumHeight(60 * kSpace);
  m_label->setBuddy(m_list);
  m_buttons->setSpacing(kSpace);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(kSpace);
  layout->addWidget(m_label);
  layout->addWidget(m_list, 1);
  layout->addLayout(m_buttons);
  placeButtons();

  connect(m_model, &MapInputsModel::edited, this, &MapInputsEditor::edited);
  connect(m_add, &QPushButton::clicked, this, &MapInputsEditor::add);
  connect(m_remove, &QPushButton::clicked, this, &MapInputsEditor::remove);
  connect(m_up, &QPushButton::clicked, this, [this] { move(-1); });
  connect(m_down, &QPushButton::clicked, this, [this] { move(1); });
  connect(m_list->selectionModel(), &QItemSelectionModel::currentChanged, this,
          &MapInputsEditor::updateButtons);
  connect(m_model, &QAbstractItemModel::modelReset, this, &MapInputsEditor::updateButtons);
  connect(m_model, &QAbstractItemModel::rowsMoved, this, &MapInputsEditor::updateButtons);
  updateButtons();
}

void MapInputsEditor::placeButtons() {
  constexpr int kButtons = 4;
  int wanted = (kButtons - 1) * kSpace;
  for (const QPushButton* button : {m_add, m_remove, m_up, m_down}) wanted += button->sizeHint().width();
  const int columns = wanted <= width() ? kButtons : kButtons / 2;
  int place = 0;
  for (QPushButton* button : {m_add, m_remove, m_up, m_down}) {
    m_buttons->addWidget(button, place / columns, place % columns);
    ++place;
  }
  // Remaining space is after the last button of a single row.
  m_buttons->setColumnStretch(kButtons, columns == kButtons ? 1 : 0);
}

void MapInputsEditor::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  placeButtons();
}

void MapInputsEditor::setInputs(const std::vector<std::string>& inputs) {
  m_model->setInputs(inputs);
}

const std::vector<std::string>& MapInputsEditor::inputs() const {
  return m_model->inputs();
}

void MapInputsEditor::setTheme(const Theme& theme) {
  m_label->setFont(theme.smallFont());
  colorLabel(*m_label, theme, Role::TextSecond);
  setSheet(*m_list, QStringLiteral("QListView { background: %1; border: 1px solid %2; border-radius: 5px; } "
                                   "QListView:focus { border: 1px solid %3; }")
                        .arg(theme.color(Role::Canvas).name(), theme.color(Role::Outline).name(),
                             theme.color(Role::Accent).name()));
}

void MapInputsEditor::focusList() {
  m_list->setFocus();
}

void MapInputsEditor::add() {
  const QModelIndex current = m_list->currentIndex();
  const int row = current.isValid() ? current.row() + 1 : m_model->rowCount();
  m_model->insertRows(row, 1);
  const QModelIndex added = m_model->index(row);
  m_list->setCurrentIndex(added);
  m_list->edit(added);
}

void MapInputsEditor::remove() {
  const QModelIndex current = m_list->currentIndex();
  if (current.isValid()) m_model->removeRows(current.row(), 1);
  updateButtons();
}

void MapInputsEditor::move(int step) {
  const QModelIndex current = m_list->currentIndex();
  if (!current.isValid()) return;
  const int to = step < 0 ? current.row() - 1 : current.row() + 2;
  m_model->moveRows({}, current.row(), 1, {}, to);
}

void MapInputsEditor::updateButtons() {
  const QModelIndex current = m_list->currentIndex();
  m_remove->setEnabled(current.isValid());
  m_up->setEnabled(current.isValid() && current.row() > 0);
  m_down->setEnabled(current.isValid() && current.row() + 1 < m_model->rowCount());
}

void MapInputsModel::setInputs(const std::vector<std::string>& inputs) {
  if (inputs == m_inputs) return;
  if (inputs.size() != m_inputs.size()) {
    beginResetModel();
    m_inputs = inputs;
    endResetModel();
    return;
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (m_inputs[i] == inputs[i]) continue;
    m_inputs[i] = inputs[i];
    const QModelIndex changed = index(static_cast<int>(i));
    Q_EMIT dataChanged(changed, changed);
  }
}

int MapInputsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(m_inputs.size());
}

QVariant MapInputsModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  if (role != Qt::DisplayRole && role != Qt::EditRole && role != Qt::ToolTipRole) return {};
  return QString::fromStdString(m_inputs[static_cast<std::size_t>(index.row())]);
}

bool MapInputsModel::setData(const QModelIndex& index, const QVariant& value, int role) {
  if (!index.isValid() || index.row() >= rowCount() || role != Qt::EditRole) return false;
  const std::string text = value.toString().toStdString();
  std::string& input = m_inputs[static_cast<std::size_t>(index.row())];
  if (input == text) return true;
  input = text;
  Q_EMIT dataChanged(index, index);
  Q_EMIT edited();
  return true;
}

Qt::ItemFlags MapInputsModel::flags(const QModelIndex& index) const {
  const Qt::ItemFlags flags = QAbstractListModel::flags(index);
  return index.isValid() ? flags | Qt::ItemIsEditable | Qt::ItemNeverHasChildren : flags;
}

bool MapInputsModel::insertRows(int row, int count, const QModelIndex& parent) {
  if (parent.isValid() || row < 0 || row > rowCount() || count <= 0) return false;
  beginInsertRows({}, row, row + count - 1);
  m_inputs.insert(m_inputs.begin() + row, static_cast<std::size_t>(count), std::string());
  endInsertRows();
  Q_EMIT edited();
  return true;
}

bool MapInputsModel::removeRows(int row, int count, const QModelIndex& parent) {
  if (parent.isValid() || row < 0 || count <= 0 || row + count > rowCount()) return false;
  beginRemoveRows({}, row, row + count - 1);
  m_inputs.erase(m_inputs.begin() + row, m_inputs.begin() + row + count);
  endRemoveRows();
  Q_EMIT edited();
  return true;
}

bool MapInputsModel::moveRows(const QModelIndex& sourceParent, int from, int count,
                              const QModelIndex& targetParent, int to) {
  if (sourceParent.isValid() || targetParent.isValid() || count != 1) return false;
  if (from < 0 || from >= rowCount() || to < 0 || to > rowCount()) return false;
  // beginMoveRows() refuses moves that change nothing.
  if (!beginMoveRows({}, from, from, {}, to)) return false;
  const std::string moved = m_inputs[static_cast<std::size_t>(from)];
  m_inputs.erase(m_inputs.begin() + from);
  m_inputs.insert(m_inputs.begin() + (to > from ? to - 1 : to), moved);
  endMoveRows();
  Q_EMIT edited();
  return true;
}

namespace {

QString placeOf(const document::Document& document, document::NodeId node) {
  const document::NodeId parent = document.at(node).parent;
  if (parent == document::kNoNode) {
    return document.root() == node ? tr(/*id:none-query*/ "none: this node is the root")
                                   : tr("none: not part of the query");
  }
  const document::DocumentNode& above = document.at(parent);
  QString label = nodeLabel(above);
  const std::size_t place = document.indexInParent(node);
  if (document::arityOf(above.own).most == 1) return label;
  if (document::arityOf(above.own).most != document::Arity::kMany)
    return place == 0 ? tr("%1, first input").arg(label) : tr("%1, second input").arg(label);
  return tr("%1, place %2 of %3").arg(label).arg(place + 1).arg(above.children.size());
}

}  // namespace

InspectorFacts inspectorFacts(const document::Document& document, document::NodeId node) {
  const query::Node& own = document.at(node).own;
  return {.title = nodeLabel(document.at(node)),
          .place = placeOf(document, node),
          .help = operatorInfo(query::operatorName(own)).help};
}

QString tokenText(std::int64_t tokens) {
  return tokens == 1 ? tr("1 token of text") : tr("%1 tokens of text").arg(tokens);
}

bool hasTextSection(const query::Node& own) {
  return query::textOf(own) != nullptr && !hasPath(own);
}

bool hasPath(const query::Node& own) {
  return hasPath(query::operatorName(own));
}

QString pathInFolder(const QString& file, const QString& folder) {
  if (folder.isEmpty()) return file;
  const QString relative = QDir(folder).relativeFilePath(file);
  return relative.startsWith(QLatin1String("..")) || QDir::isAbsolutePath(relative) ? file : relative;
}

QString textLabel(const query::Node& own) {
  const QString label = operatorInfo(query::operatorName(own)).textLabel;
  return label.isEmpty() ? tr("Text") : label;
}

namespace {

/// The scrolled content is as wide as the dock. In a narrow dock its fields shrink, and move below their
/// labels.
class DockWideBody : public QWidget {
 public:
  using QWidget::QWidget;
  QSize minimumSizeHint() const override { return {0, QWidget::minimumSizeHint().height()}; }
};

}  // namespace

InspectorView::InspectorView(QWidget* parent)
    : InputView(InputPart::Model, Pace::EveryInput, parent), m_scroll(new QScrollArea(this)) {
  makeEmptyPage();
  m_scroll->setWidgetResizable(true);
  m_scroll->setFrameShape(QFrame::NoFrame);
  m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_scroll->setFocusPolicy(Qt::NoFocus);
  makeFields();
  connectFields();
  auto* stack = new QStackedLayout(this);
  stack->setContentsMargins(0, 0, 0, 0);
  stack->addWidget(m_emptyPage);
  stack->addWidget(m_scroll);
}

void InspectorView::makeEmptyPage() {
  m_emptyPage = new DockWideBody(this);
  m_empty = new QLabel(m_emptyPage);
  m_empty->setObjectName(QStringLiteral("empty"));
  m_empty->setText(tr("The text and the settings of a node appear here. Select a node on the canvas."));
  m_empty->setWordWrap(true);
  m_allParameters = new ParameterSection(
      parameterEdits(), [this] { return model(); }, m_emptyPage);
  m_allParameters->setObjectName(QStringLiteral("allParameters"));
  auto* layout = new QVBoxLayout(m_emptyPage);
  layout->setContentsMargins(3 * kSpace, 3 * kSpace, 3 * kSpace, kSpace);
  layout->setSpacing(4 * kSpace);
  layout->addWidget(m_empty);
  layout->addWidget(m_allParameters);
  layout->addStretch(1);
}

void InspectorView::makeFields() {
  const auto modelOf = [this] { return model(); };
  const EditOwn edit = [this](const QString& name, const QString& field,
                              const std::function<void(query::Node&)>& change) {
    editOwn(name, field, change);
  };
  auto* body = new DockWideBody;
  m_text = new TextSection(modelOf, body);
  m_text->setObjectName(QStringLiteral("textSection"));
  m_text->editor()->setMinimumHeight(24 * kSpace);
  m_generate = new GenerateSection(edit, modelOf, body);
  m_inputs = new MapInputsEditor(body);
  m_augment = new AugmentSection(edit, modelOf, body);
  m_parameters = new ParameterSection(parameterEdits(), modelOf, body);
  m_parameters->setObjectName(QStringLiteral("parameters"));
  m_rows = new FormRows(body);
  m_path = new QLineEdit(m_rows);
  m_path->setObjectName(QStringLiteral("path"));
  m_operator = new QComboBox(m_rows);
  m_operator->setObjectName(QStringLiteral("operator"));
  for (const OperatorRow& info : operatorTable()) {
    m_operator->addItem(info.label, QString::fromStdString(info.name));
    m_operator->setItemData(m_operator->count() - 1, info.help, Qt::ToolTipRole);
    if (info.name == "assistant") m_operator->insertSeparator(m_operator->count());
  }
  ignoreWheelWithoutFocus(m_operator);
  m_place = new QLabel(m_rows);
  m_place->setObjectName(QStringLiteral("place"));
  m_place->setWordWrap(true);
  m_name = new QLineEdit(m_rows);
  m_name->setObjectName(QStringLiteral("name"));
  m_name->setPlaceholderText(tr("optional"));
  m_muted = new QCheckBox(m_rows);
  m_muted->setObjectName(QStringLiteral("muted"));
  m_muted->setToolTip(tr("Leave this node and everything under it out of runs"));
  m_help = new QLabel(body);
  m_help->setWordWrap(true);
  for (QLineEdit* line : {m_path, m_name}) new DocumentUndo(line, modelOf);

  m_pathField = new QWidget(m_rows);
  m_browse = new QPushButton(tr("Browse…"), m_pathField);
  m_browse->setObjectName(QStringLiteral("browse"));
  m_browse->setToolTip(tr("Choose a file in the folder of this query or below it"));
  auto* pathRow = new QHBoxLayout(m_pathField);
  pathRow->setContentsMargins(0, 0, 0, 0);
  pathRow->setSpacing(2 * kSpace);
  pathRow->addWidget(m_path, 1);
  pathRow->addWidget(m_browse);
  m_path->setAccessibleName(tr("Path"));
  m_pathField->setFocusProxy(m_path);
  m_pathLabel = m_rows->addRow(tr("Path"), m_pathField);
  m_operatorLabel = m_rows->addRow(tr("Role"), m_operator);
  m_rows->addRow(tr("Child of"), m_place);
  m_rows->addRow(tr("Name"), m_name);
  m_rows->addRow(tr("Muted"), m_muted);

  auto* layout = new QVBoxLayout(body);
  layout->setContentsMargins(3 * kSpace, 2 * kSpace, 3 * kSpace, 3 * kSpace);
  layout->setSpacing(3 * kSpace);
  layout->addWidget(m_text, 3);
  layout->addWidget(m_generate);
  layout->addWidget(m_inputs, 3);
  layout->addWidget(m_augment);
  layout->addWidget(m_parameters);
  layout->addWidget(m_rows);
  layout->addWidget(m_help);
  layout->addStretch(1);
  m_scroll->setWidget(body);
  body->setAutoFillBackground(false);
  m_scroll->viewport()->setAutoFillBackground(false);
}

void InspectorView::connectFields() {
  connect(m_text, &TextSection::edited, this, [this] {
    editOwn(tr("Text"), QStringLiteral("text"), [this](query::Node& own) {
      if (hasTextSection(own)) *query::textOf(own) = m_text->text();
    });
  });
  connect(m_path, &QLineEdit::textEdited, this, [this](const QString& text) {
    editOwn(tr("Path"), QStringLiteral("path"), [&text](query::Node& own) {
      if (hasPath(own)) *query::textOf(own) = text.toStdString();
    });
  });
  connect(m_browse, &QPushButton::clicked, this, &InspectorView::browse);
  connect(m_inputs, &MapInputsEditor::edited, this, [this] {
    editOwn(tr("Inputs of the map"), {}, [this](query::Node& own) {
      if (std::vector<std::string>* inputs = query::inputsOf(own)) *inputs = m_inputs->inputs();
    });
  });
  connect(m_operator, &QComboBox::activated, this, [this](int index) {
    const std::string op = m_operator->itemData(index).toString().toStdString();
    if (model() == nullptr || !document().contains(m_node) ||
        op == query::operatorName(document().at(m_node).own))
      return;
    change(tr("Replace operator"), {},
           [&](document::Document& value) { document::replaceOperator(value, m_node, op); });
  });
  connect(m_name, &QLineEdit::textEdited, this, [this](const QString& text) {
    change(tr("Rename"), QStringLiteral("name:%1").arg(m_node),
           [&](document::Document& value) { document::setName(value, m_node, text.toStdString()); });
  });
  connect(m_muted, &QCheckBox::clicked, this, [this](bool on) {
    change(on ? tr("Mute") : tr("Unmute"), {},
           [&](document::Document& value) { document::setMuted(value, {m_node}, on); });
  });
  connect(m_generate, &GenerateSection::serverChosen, this, [this](const std::string& server) {
    change(tr("Answered by"), {},
           [&](document::Document& value) { document::setServer(value, m_node, server); });
  });
  connect(m_generate, &GenerateSection::freezeWanted, this,
          [this] { Q_EMIT commandWanted(QStringLiteral("node.freeze")); });
  connect(m_generate, &GenerateSection::unfreezeWanted, this, [this] {
    change(tr("Run again"), {},
           [this](document::Document& value) { document::setFrozen(value, m_node, {}); });
  });
  connect(m_generate, &GenerateSection::frozenEdited, this,
          [this](std::size_t index, const std::string& text) {
            const QString key = QStringLiteral("frozen:%1:%2").arg(m_node).arg(index);
            change(tr("Frozen answer"), key, [&](document::Document& value) {
              std::vector<std::string> answers = value.at(m_node).frozen;
              if (index < answers.size()) answers[index] = text;
              document::setFrozen(value, m_node, std::move(answers));
            });
          });
}

void InspectorView::browse() {
  if (model() == nullptr || !document().contains(m_node)) return;
  const document::NodeId node = m_node;
  const QString file = model()->filePath();
  const QString folder = file.isEmpty() ? QString() : QFileInfo(file).absolutePath();
  const QString chosen = QFileDialog::getOpenFileName(this, tr("File"), folder);
  // The selection may have changed while the dialog was open.
  if (chosen.isEmpty() || node != m_node) return;
  const std::string path = pathInFolder(chosen, folder).toStdString();
  editOwn(tr("Path"), {}, [&path](query::Node& own) {
    if (hasPath(own)) *query::textOf(own) = path;
  });
}

void InspectorView::focusText() {
  if (!document().contains(m_node)) return;
  const query::Node& own = document().at(m_node).own;
  if (hasTextSection(own))
    m_text->focusText();
  else if (query::inputsOf(own) != nullptr)
    m_inputs->focusList();
  else if (query::answers(own))
    m_generate->focusFirst();
  else if (query::documentOf(own) != nullptr)
    m_augment->focusFirst();
  else if (hasPath(own))
    m_path->setFocus(Qt::OtherFocusReason);
  else
    m_name->setFocus(Qt::OtherFocusReason);
}

void InspectorView::modelChanged() {
  m_node = document::kNoNode;
}

void InspectorView::refresh() {
  const document::NodeId wanted = selection().currentNode();
  const document::NodeId node = document().contains(wanted) ? wanted : document::kNoNode;
  // Typing into one node never joins the undo step of another.
  if (node != m_node && model() != nullptr) model()->endMerge();
  m_node = node;
  applyTheme();
  static_cast<QStackedLayout*>(layout())->setCurrentIndex(node == document::kNoNode ? 0 : 1);
  if (node == document::kNoNode) {
    m_allParameters->setRows(parameterRows(document(), document::kNoNode));
    Q_EMIT summaryChanged({});
    return;
  }
  showNode(document().at(node));
}

void InspectorView::showNode(const document::DocumentNode& node) {
  const InspectorFacts facts = inspectorFacts(document(), m_node);
  const bool hasText = hasTextSection(node.own);
  m_text->setVisible(hasText);
  if (hasText) {
    m_text->setLabel(textLabel(node.own));
    m_text->setCounted(query::infoOf(node.own).gives != query::Gives::Nothing);
    m_text->setCounting(tokenizer());
    m_text->setText(*query::textOf(node.own));
  }
  m_generate->setVisible(query::answers(node.own));
  m_generate->setNode(m_node, node, input()->servers);
  const std::vector<std::string>* inputs = query::inputsOf(node.own);
  m_inputs->setVisible(inputs != nullptr);
  if (inputs != nullptr) m_inputs->setInputs(*inputs);
  m_augment->setVisible(query::documentOf(node.own) != nullptr);
  m_augment->setNode(node);
  m_parameters->setRows(parameterRows(document(), m_node));
  const bool isFile = hasPath(node.own);
  m_pathField->setVisible(isFile);
  m_pathLabel->setVisible(isFile);
  const auto show = [](QLineEdit* line, const std::string& value) {
    const QString now = QString::fromStdString(value);
    if (line->text() != now) line->setText(now);
  };
  if (isFile) show(m_path, *query::textOf(node.own));
  show(m_name, node.name);
  showOperator(node.own);
  m_place->setText(facts.place);
  m_muted->setChecked(node.muted);
  m_help->setText(facts.help);
  setEnabled(model() != nullptr);
  Q_EMIT summaryChanged(facts.title);
}

void InspectorView::showOperator(const query::Node& own) {
  const bool isMessage = own.as<query::Message>() != nullptr;
  m_operatorLabel->setText(isMessage ? tr("Role") : tr("Operator"));
  m_operator->setAccessibleName(m_operatorLabel->text());
  m_operator->setCurrentIndex(m_operator->findData(QString::fromLatin1(query::operatorName(own))));
}

void InspectorView::applyTheme() {
  const Theme now = theme();
  if (m_applied == now) return;
  m_applied = now;
  m_empty->setFont(now.interfaceFont());
  colorLabel(*m_empty, now, Role::TextSecond);
  m_help->setFont(now.smallFont());
  colorLabel(*m_help, now, Role::TextThird);
  m_rows->setTheme(now);
  m_text->setTheme(now);
  m_generate->setTheme(now);
  m_inputs->setTheme(now);
  m_augment->setTheme(now);
  m_parameters->setTheme(now);
  m_allParameters->setTheme(now);
}

void InspectorView::change(const QString& name, const QString& key,
                           const std::function<void(document::Document&)>& change) {
  if (model() == nullptr || !document().contains(m_node)) return;
  model()->change(name, change, key);
}

void InspectorView::editOwn(const QString& name, const QString& field,
                            const std::function<void(query::Node&)>& edit) {
  const QString key = field.isEmpty() ? QString() : QStringLiteral("%1:%2").arg(field).arg(m_node);
  change(name, key, [&](document::Document& value) {
    query::Node own = value.at(m_node).own;
    edit(own);
    document::setOwn(value, m_node, std::move(own));
  });
}

ParameterEdits InspectorView::parameterEdits() {
  return {.setValue = [this](const std::string& name,
                             const std::optional<std::string>& value) { setParameter(name, value); },
          .declare =
              [this](const QString& command, const QString& key, query::ParameterDeclaration declaration) {
                if (model() == nullptr) return;
                model()->change(
                    command,
                    [&](document::Document& document) {
                      document::declareParameter(document, std::move(declaration));
                    },
                    key);
              }};
}

void InspectorView::setParameter(const std::string& name, const std::optional<std::string>& value) {
  if (model() == nullptr) return;
  const QString shown = QString::fromStdString(name);
  // Typing a value is one undo step; removing it is another.
  const QString key = value ? QStringLiteral("parameter:") + shown : QString();
  model()->change(
      tr("Value of {%1}").arg(shown),
      [&](document::Document& document) {
        if (value)
          document.parameters[name] = *value;
        else
          document.parameters.erase(name);
      },
      key);
}

ViewInfo inspectorRow() {
  return {.id = QStringLiteral("inspector"),
          .title = tr("Inspector"),
          .help = tr("The text and the settings of the selected node"),
          .make = makeViewOf<InspectorView>,
          .places = {{LayoutId::Author, Room::Low, Room::Low, 2, 0, 0, 60},
                     {LayoutId::Author, Room::Middle, Room::Large, 2, 0, 0, 40}},
          .staysInSight = true};
}

}  // namespace spanscope::ui
