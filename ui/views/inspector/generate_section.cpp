// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/inspector/generate_section.h"

#include "engine/base/error.h"
#include "engine/query/node_parts.h"
#include "engine/query/number_text.h"
#include "engine/query/parameters.h"
#include "ui/operators/operator_table.h"
#include "ui/views/common/text_tools.h"
#include "ui/views/inspector/inspector_view.h"

#include <QAbstractItemView>
#include <QComboBox>
#include <QCoreApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPointer>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QThreadPool>
#include <QVBoxLayout>

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

namespace spanscope::ui {

namespace {

/// Longer texts are counted on another thread.
constexpr std::size_t kCountedAtOnce = 128;

}  // namespace

TextSection::TextSection(DocumentUndo::ModelOf model, QWidget* parent)
    : QWidget(parent),
      m_label(new QLabel(this)),
      m_editor(new QPlainTextEdit(this)),
      m_count(new QLabel(this)) {
  m_editor->setObjectName(QStringLiteral("text"));
  m_editor->setTabChangesFocus(true);
  m_editor->setUndoRedoEnabled(false);
  new DocumentUndo(m_editor, std::move(model));
  m_label->setBuddy(m_editor);
  m_count->setObjectName(QStringLiteral("count"));
  m_count->setAlignment(Qt::AlignRight);
  m_count->setToolTip(
      tr("Tokens of the text only. The node card also counts the tokens of the chat template."));
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(kSpace);
  layout->addWidget(m_label);
  layout->addWidget(m_editor, 1);
  layout->addWidget(m_count);
  connect(m_editor, &QPlainTextEdit::textChanged, this, [this] {
    if (m_isSetting) return;
    m_shown = m_editor->toPlainText().toStdString();
    count();
    Q_EMIT edited();
  });
}

TextSection::~TextSection() {
  m_counting.request_stop();
}

void TextSection::setLabel(const QString& label) {
  m_label->setText(label);
  m_editor->setAccessibleName(label);
}

void TextSection::setText(const std::string& text) {
  if (text == m_shown) {
    count();
    return;
  }
  m_shown = text;
  m_isSetting = true;
  replaceText(*m_editor, QString::fromStdString(text));
  m_isSetting = false;
  count();
}

std::string TextSection::text() const {
  return m_shown;
}

void TextSection::setReadOnly(bool isReadOnly) {
  m_editor->setReadOnly(isReadOnly);
}

void TextSection::setCounting(std::shared_ptr<const text::Tokenizer> tokenizer) {
  if (tokenizer != m_tokenizer) m_counted.reset();
  m_tokenizer = std::move(tokenizer);
}

void TextSection::setCounted(bool isCounted) {
  m_isCounted = isCounted;
  m_count->setVisible(isCounted);
}

void TextSection::count() {
  if (!m_isCounted || m_counted == m_shown) return;
  m_counted = m_shown;
  const int serial = ++m_countSerial;
  m_counting.request_stop();
  m_counting = {};
  if (m_tokenizer == nullptr) {
    m_counted.reset();
    m_count->setText(tr(/*id:no-model-loaded*/ "no model loaded"));
    return;
  }
  if (m_shown.size() <= kCountedAtOnce) {
    m_count->setText(tokenText(static_cast<std::int64_t>(m_tokenizer->count(m_shown))));
    return;
  }
  QThreadPool::globalInstance()->start([self = QPointer(this), serial, tokenizer = m_tokenizer,
                                        text = m_shown, context = QPointer<QObject>(qApp),
                                        stop = m_counting.get_token()] {
    std::int64_t tokens = 0;
    try {
      tokens = static_cast<std::int64_t>(tokenizer->count(text, {.stop = stop}));
    } catch (const Failure&) {
      return;  // another text came, or this text cannot be encoded, which a run reports
    }
    // The section may be destroyed by then, but the application outlives the jobs of the thread pool.
    if (context == nullptr) return;
    QMetaObject::invokeMethod(
        context.data(),
        [self, serial, tokens] {
          if (self != nullptr && self->m_countSerial == serial) self->m_count->setText(tokenText(tokens));
        },
        Qt::QueuedConnection);
  });
}

void TextSection::setTheme(const Theme& theme) {
  m_label->setFont(theme.smallFont());
  m_count->setFont(theme.smallFont());
  colorLabel(*m_label, theme, Role::TextSecond);
  colorLabel(*m_count, theme, Role::TextThird);
  m_editor->setFont(theme.interfaceFont());
}

void TextSection::focusText() {
  m_editor->setFocus(Qt::OtherFocusReason);
  m_editor->moveCursor(QTextCursor::End);
}

QString TextSection::countText() const {
  return m_count->text();
}

namespace {

template <class T>
NumberValue toValue(const query::Setting<T>& setting) {
  return std::visit(
      [](const auto& value) -> NumberValue {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, T>)
          return static_cast<double>(value);
        else
          return value;
      },
      setting);
}

template <class T>
query::Setting<T> toSetting(const NumberValue& value) {
  return std::visit(
      [](const auto& given) -> query::Setting<T> {
        if constexpr (std::is_same_v<std::decay_t<decltype(given)>, double>)
          return static_cast<T>(given);
        else
          return given;
      },
      value);
}

}  // namespace

GenerateSection::GenerateSection(EditOwn edit, const DocumentUndo::ModelOf& model, QWidget* parent)
    : QWidget(parent),
      m_edit(std::move(edit)),
      m_rows(new FormRows(this)),
      m_count(new NumberField(NumberField::Kind::Count, tr("Number of answers"), QStringLiteral("n"), this)),
      m_model(new QLineEdit(this)),
      m_maxTokens(new NumberField(NumberField::Kind::MaxTokens, tr("Max tokens"),
                                  QStringLiteral("max_tokens"), this)),
      m_temperature(new NumberField(NumberField::Kind::Temperature, tr("Temperature"),
                                    QStringLiteral("temperature"), this)),
      m_server(new QComboBox(this)),
      m_freeze(new QPushButton(this)),
      m_which(new QSpinBox(this)),
      m_frozen(new TextSection(model, this)) {
  m_count->setObjectName(QStringLiteral("repeatCount"));
  m_model->setObjectName(QStringLiteral("generateModel"));
  m_model->setPlaceholderText(tr("the loaded model"));
  m_maxTokens->setObjectName(QStringLiteral("generateMaxTokens"));
  m_temperature->setObjectName(QStringLiteral("generateTemperature"));
  m_server->setObjectName(QStringLiteral("generateServer"));
  m_server->setToolTip(tr("Choose the server of this node. Steps of a query can use different servers"));
  ignoreWheelWithoutFocus(m_server);
  m_freeze->setObjectName(QStringLiteral("freeze"));
  m_frozen->setObjectName(QStringLiteral("frozen"));
  m_which->setObjectName(QStringLiteral("frozenWhich"));
  m_which->setAccessibleName(tr("Shown frozen answer"));
  m_which->setMinimum(1);
  m_frozen->setCounted(false);
  m_frozen->editor()->setFixedHeight(20 * kSpace);
  // The label is a sentence. Where the height of the text is not fixed, wrapping would keep the label from
  // shrinking.
  for (QLabel* label : m_frozen->findChildren<QLabel*>()) label->setWordWrap(true);
  for (QLineEdit* line :
       {m_model, m_count->field()->line(), m_maxTokens->field()->line(), m_temperature->field()->line()}) {
    new DocumentUndo(line, model);
  }

  m_countLabel = m_rows->addRow(tr("Answers"), m_count);
  m_rows->addRow(tr("Model"), m_model);
  m_rows->addRow(tr("Max tokens"), m_maxTokens);
  m_rows->addRow(tr("Temperature"), m_temperature);
  m_serverLabel = m_rows->addRow(tr("Answered by"), m_server);
  m_freezeLabel = m_rows->addRow(tr("Answer"), m_freeze);
  m_whichLabel = m_rows->addRow(tr("Frozen answer"), m_which);
  m_rows->addWide(m_frozen);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(m_rows);

  connect(m_model, &QLineEdit::textEdited, this, [this](const QString& text) {
    m_edit(tr("Model"), QStringLiteral("model"), [&text](query::Node& own) {
      if (auto* settings = query::settingsOf(own)) settings->model = text.toStdString();
    });
  });
  connect(m_maxTokens, &NumberField::edited, this, [this] {
    m_edit(tr("Max tokens"), QStringLiteral("max_tokens"), [this](query::Node& own) {
      if (auto* settings = query::settingsOf(own))
        settings->maxTokens = toSetting<std::int32_t>(m_maxTokens->value());
    });
  });
  connect(m_temperature, &NumberField::edited, this, [this] {
    m_edit(tr("Temperature"), QStringLiteral("temperature"), [this](query::Node& own) {
      if (auto* settings = query::settingsOf(own))
        settings->temperature = toSetting<float>(m_temperature->value());
    });
  });
  connect(m_count, &NumberField::edited, this, [this] {
    m_edit(tr("Number of answers"), QStringLiteral("n"), [this](query::Node& own) {
      query::Times* times = query::countOf(own);
      if (times == nullptr) return;
      if (const auto* number = std::get_if<double>(&m_count->value()))
        *times = static_cast<std::uint8_t>(*number);
      if (const auto* name = std::get_if<query::Parameter>(&m_count->value())) *times = *name;
    });
  });
  connect(m_server, &QComboBox::activated, this,
          [this](int index) { Q_EMIT serverChosen(m_server->itemData(index).toString().toStdString()); });
  connect(m_freeze, &QPushButton::clicked, this, [this] {
    if (m_answers.empty())
      Q_EMIT freezeWanted();
    else
      Q_EMIT unfreezeWanted();
  });
  connect(m_which, &QSpinBox::valueChanged, this, &GenerateSection::showAnswer);
  connect(m_frozen, &TextSection::edited, this,
          [this] { Q_EMIT frozenEdited(static_cast<std::size_t>(m_which->value() - 1), m_frozen->text()); });
}

void GenerateSection::setNode(document::NodeId id, const document::DocumentNode& node,
                              const std::vector<std::string>& servers) {
  const query::GenerateSettings* settings = query::settingsOf(node.own);
  if (settings == nullptr) return;
  const query::Times* times = query::countOf(node.own);
  m_count->setVisible(times != nullptr);
  m_countLabel->setVisible(times != nullptr);
  if (times != nullptr) {
    m_count->setValue(std::visit(
        [](const auto& count) -> NumberValue {
          if constexpr (std::is_same_v<std::decay_t<decltype(count)>, query::Parameter>)
            return count;
          else
            return static_cast<double>(count);
        },
        *times));
  }
  const QString model = QString::fromStdString(settings->model);
  if (m_model->text() != model) m_model->setText(model);
  m_maxTokens->setValue(toValue(settings->maxTokens));
  m_temperature->setValue(toValue(settings->temperature));
  m_answers = node.frozen;
  {
    const QSignalBlocker blocker(m_which);
    if (m_node != id) m_which->setValue(1);
    m_which->setMaximum(std::max(1, static_cast<int>(m_answers.size())));
    m_which->setSuffix(tr(" of %1").arg(m_answers.size()));
  }
  m_node = id;
  showServers(node.server, servers);
  showFrozen(node.own);
}

/// Hides the row if there are no servers.
void GenerateSection::showServers(const std::string& chosen, const std::vector<std::string>& servers) {
  const bool isShown = !servers.empty() || !chosen.empty();
  m_server->setVisible(isShown);
  m_serverLabel->setVisible(isShown);
  const QSignalBlocker blocker(m_server);
  m_server->clear();
  m_server->addItem(tr("same as the query"), QString());
  m_server->addItem(tr("the embedded engine"), QString::fromLatin1(document::kEmbedded));
  for (const std::string& server : servers)
    m_server->addItem(QString::fromStdString(server), QString::fromStdString(server));
  const QString now = QString::fromStdString(chosen);
  if (m_server->findData(now) < 0) m_server->addItem(tr("%1 (not in the list)").arg(now), now);
  m_server->setCurrentIndex(m_server->findData(now));
}

void GenerateSection::showFrozen(const query::Node& own) {
  const bool isFrozen = !m_answers.empty();
  const bool givesMany = document::mostAnswers(own) > 1;
  if (isFrozen) {
    m_freeze->setText(tr("Run again"));
    m_freeze->setToolTip(givesMany ? tr("Discard frozen answers") : tr("Discard frozen answer"));
  } else if (givesMany) {
    m_freeze->setText(tr("Freeze answer"));
    m_freeze->setToolTip(tr("Use the answers of the last run in place of a new run"));
  } else {
    m_freeze->setText(tr("Freeze answer"));
    m_freeze->setToolTip(tr("Use the last answer in place of a new run"));
  }
  m_freezeLabel->setText(givesMany ? tr("Answers given") : tr("Answer"));
  m_which->setVisible(m_answers.size() > 1);
  m_whichLabel->setVisible(m_answers.size() > 1);
  m_frozen->setLabel(
      givesMany ? tr("Frozen: replaces one answer of the %1").arg(operatorLabel(query::operatorName(own)))
                : tr("Frozen answer: replaces the run of this node"));
  m_frozen->setVisible(isFrozen);
  showAnswer();
}

void GenerateSection::showAnswer() {
  const auto index = static_cast<std::size_t>(m_which->value() - 1);
  m_frozen->setText(index < m_answers.size() ? m_answers[index] : std::string());
}

void GenerateSection::setTheme(const Theme& theme) {
  m_rows->setTheme(theme);
  m_count->setTheme(theme);
  m_maxTokens->setTheme(theme);
  m_temperature->setTheme(theme);
  m_frozen->setTheme(theme);
}

void GenerateSection::focusFirst() {
  m_model->setFocus(Qt::OtherFocusReason);
  m_model->selectAll();
}

AugmentSection::AugmentSection(EditOwn edit, const DocumentUndo::ModelOf& model, QWidget* parent)
    : QWidget(parent),
      m_edit(std::move(edit)),
      m_rows(new FormRows(this)),
      m_embedding(new QLineEdit(this)),
      m_name(new QLineEdit(this)),
      m_bytes(new QLabel(this)),
      m_content(new TextSection(model, this)) {
  m_embedding->setObjectName(QStringLiteral("embedding"));
  m_name->setObjectName(QStringLiteral("documentName"));
  m_content->setObjectName(QStringLiteral("content"));
  m_content->setLabel(tr("Text of the document"));
  m_content->setCounted(false);
  m_content->editor()->setMinimumHeight(24 * kSpace);
  for (QLineEdit* line : {m_embedding, m_name}) new DocumentUndo(line, model);
  m_rows->addRow(tr("Embedding model"), m_embedding);
  m_rows->addRow(tr("Document"), m_name);
  m_bytesLabel = m_rows->addRow(tr("Content"), m_bytes);
  m_rows->addWide(m_content);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(m_rows);

  connect(m_embedding, &QLineEdit::textEdited, this, [this](const QString& text) {
    m_edit(tr("Embedding model"), QStringLiteral("embedding"), [&text](query::Node& own) {
      if (std::string* name = query::embeddingModelOf(own)) *name = text.toStdString();
    });
  });
  const auto editDocument = [this](const QString& name, const QString& field,
                                   const std::function<void(query::SourceDocument&)>& change) {
    m_edit(name, field, [&change](query::Node& own) {
      if (query::SourceDocument* document = query::documentOf(own)) change(*document);
    });
  };
  connect(m_name, &QLineEdit::textEdited, this, [editDocument](const QString& text) {
    editDocument(tr("Name of the document"), QStringLiteral("document"),
                 [&text](query::SourceDocument& document) { document.name = text.toStdString(); });
  });
  connect(m_content, &TextSection::edited, this, [this, editDocument] {
    editDocument(tr("Text of the document"), QStringLiteral("content"),
                 [this](query::SourceDocument& document) { document.content = m_content->text(); });
  });
}

void AugmentSection::setNode(const document::DocumentNode& node) {
  const query::SourceDocument* document = query::documentOf(node.own);
  if (document == nullptr) return;
  const auto show = [](QLineEdit* line, const std::string& text) {
    const QString now = QString::fromStdString(text);
    if (line->text() != now) line->setText(now);
  };
  show(m_embedding, *query::embeddingModelOf(node.own));
  show(m_name, document->name);
  const auto* bytes = std::get_if<std::vector<std::uint8_t>>(&document->content);
  m_bytes->setVisible(bytes != nullptr);
  m_bytesLabel->setVisible(bytes != nullptr);
  m_content->setVisible(bytes == nullptr);
  if (bytes != nullptr)
    m_bytes->setText(tr("a PDF of %1 bytes").arg(bytes->size()));
  else
    m_content->setText(std::get<std::string>(document->content));
}

void AugmentSection::setTheme(const Theme& theme) {
  m_rows->setTheme(theme);
  m_content->setTheme(theme);
}

void AugmentSection::focusFirst() {
  m_name->setFocus(Qt::OtherFocusReason);
}

namespace {

/// The modes, numbered as the alternatives of NumberValue.
enum Mode { Left = 0, None = 1, Number = 2, Named = 3 };

double firstNumber(NumberField::Kind kind) {
  switch (kind) {
    case NumberField::Kind::Count:
      return 2;
    case NumberField::Kind::MaxTokens:
      return 32;
    case NumberField::Kind::Temperature:
      return 0;
  }
  return 0;
}

}  // namespace

NumberField::NumberField(Kind kind, const QString& accessibleName, const QString& parameter, QWidget* parent)
    : QWidget(parent),
      m_kind(kind),
      m_parameter(parameter),
      m_lastNumber(firstNumber(kind)),
      m_modes(new QComboBox(this)),
      m_field(new CheckedField(
          accessibleName, [this](const QString& text) { return apply(text); }, this)) {
  if (kind == Kind::MaxTokens) {
    m_modes->addItem(tr("server's default"), Left);
    m_modes->addItem(tr("no limit"), None);
  } else if (kind == Kind::Temperature) {
    m_modes->addItem(tr("default, 0.6"), Left);
    m_modes->addItem(tr("null"), None);
  }
  m_modes->addItem(tr("number"), Number);
  m_modes->addItem(tr("{parameter}"), Named);
  m_modes->setAccessibleName(tr("%1: kind of value").arg(accessibleName));
  // In a narrow dock the value must be visible. The list of modes opens as wide as it needs.
  m_modes->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  m_modes->setMinimumContentsLength(3);
  m_field->line()->setMinimumWidth(10 * kSpace);
  int widest = 0;
  for (int i = 0; i < m_modes->count(); ++i)
    widest = std::max(widest, m_modes->fontMetrics().horizontalAdvance(m_modes->itemText(i)));
  m_modes->view()->setMinimumWidth(widest + 6 * kSpace);
  ignoreWheelWithoutFocus(m_modes);
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(kSpace);
  layout->addWidget(m_modes, 3, Qt::AlignTop);
  layout->addWidget(m_field, 2, Qt::AlignTop);
  setFocusProxy(m_modes);
  connect(m_modes, &QComboBox::activated, this, &NumberField::chooseMode);
  show();
}

void NumberField::setValue(const NumberValue& value) {
  m_value = value;
  if (const auto* number = std::get_if<double>(&value)) m_lastNumber = *number;
  show();
}

QString NumberField::reason() const {
  return m_field->reason();
}

void NumberField::setTheme(const Theme& theme) {
  m_field->setTheme(theme);
}

QString NumberField::apply(const QString& text) {
  if (std::holds_alternative<query::Parameter>(m_value)) {
    const QString name = text.trimmed();
    const std::string braced = "{" + name.toStdString() + "}";
    if (query::parameterName(braced) != name.toStdString()) return tr("Use letters, digits and _ . -");
    m_value = query::Parameter{name.toStdString()};
  } else if (m_kind == Kind::Temperature) {
    const std::optional<float> number = floatNumber(text);
    if (!number) return tr("A number such as 0.7");
    m_value = double{*number};
  } else {
    const bool isCount = m_kind == Kind::Count;
    const std::int64_t least = isCount ? 0 : std::numeric_limits<std::int32_t>::min();
    const std::int64_t most = isCount ? 255 : std::numeric_limits<std::int32_t>::max();
    const std::optional<std::int64_t> number = wholeNumber(text, least, most);
    if (!number)
      return isCount ? tr("A whole number from 0 to 255") : tr("A whole number up to %1").arg(most);
    m_value = static_cast<double>(*number);
  }
  if (const auto* number = std::get_if<double>(&m_value)) m_lastNumber = *number;
  Q_EMIT edited();
  return {};
}

void NumberField::chooseMode(int index) {
  const int mode = m_modes->itemData(index).toInt();
  if (mode == static_cast<int>(m_value.index())) return;
  if (mode == Left)
    m_value = query::Absent{};
  else if (mode == None)
    m_value = query::Null{};
  else if (mode == Number)
    m_value = m_lastNumber;
  else
    m_value = query::Parameter{m_parameter.toStdString()};
  show();
  Q_EMIT edited();
  if (m_field->isVisible()) m_field->line()->setFocus();
}

void NumberField::show() {
  m_modes->setCurrentIndex(m_modes->findData(static_cast<int>(m_value.index())));
  QString text;
  if (const auto* number = std::get_if<double>(&m_value)) {
    text = m_kind == Kind::Temperature ? QString::fromStdString(query::floatText(static_cast<float>(*number)))
                                       : QString::number(static_cast<qlonglong>(*number));
  } else if (const auto* parameter = std::get_if<query::Parameter>(&m_value)) {
    text = QString::fromStdString(parameter->name);
  }
  m_field->setText(text);
  m_field->setVisible(m_value.index() >= Number);
}

}  // namespace spanscope::ui
