// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/inspector/inspector_view.h"

#include "engine/query/node_parts.h"
#include "engine/workbench/document/edits.h"
#include "ui/operators/operator_table.h"
#include "ui/views/inspector/form_rows.h"
#include "ui/views/inspector/generate_section.h"
#include "ui/views/inspector/inspector_model.h"
#include "ui/views/inspector/map_inputs_editor.h"
#include "ui/views/inspector/parameter_section.h"
#include "ui/views/inspector/text_section.h"
#include "ui/words/tr.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QStackedLayout>
#include <QVBoxLayout>

#include <utility>

namespace spanscope::ui {
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
  m_browse->setToolTip(tr("Choose a file in the folder of this document or below it"));
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
                     {LayoutId::Author, Room::Middle, Room::Large, 2, 0, 0, 44}},
          .staysInSight = true};
}

}  // namespace spanscope::ui
