// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/export/export_settings.h"

#include "engine/query/node_parts.h"
#include "engine/query/surroundings.h"
#include "engine/spnl/request_text.h"
#include "engine/text/chat_template.h"
#include "engine/text/chat_template_table.h"
#include "engine/text/tokenizer.h"
#include "engine/workbench/model_names.h"
#include "engine/workbench/pipeline.h"
#include "engine/workbench/resource_paths.h"
#include "ui/session/run_inputs.h"
#include "ui/theme/theme.h"
#include "ui/words/tr.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMetaObject>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QToolButton>
#include <QUrl>

#include <algorithm>
#include <exception>
#include <initializer_list>
#include <limits>
#include <utility>

namespace spanscope::ui {

namespace {

// The ids of SPNL's examples.
constexpr int kPad = 27;
constexpr int kPlus = 10;
constexpr int kCross = 31;
constexpr int kNoMarker = -1;
using exports::ExportOption;
using exports::ExportStage;

constexpr int kMostBlockSize = 1024;

std::optional<TokenId> markerOf(const QSpinBox& field) {
  return field.value() == kNoMarker ? std::nullopt : std::optional<TokenId>(field.value());
}

QSpinBox* idField(int least, int value, const QString& name, const QString& tip, QWidget* parent) {
  auto* field = new QSpinBox(parent);
  field->setRange(least, std::numeric_limits<int>::max());
  field->setValue(value);
  field->setAccessibleName(name);
  field->setToolTip(tip);
  field->setMinimumWidth(96);
  return field;
}

}  // namespace

ExportSettings::ExportSettings(const document::RunSettings& settings, QString path, bool hasFiles,
                               QWidget* parent)
    : QWidget(parent), m_path(std::move(path)), m_hasFiles(hasFiles) {
  const std::string runsHere = workbench::modelNameOf(settings);
  if (!runsHere.empty()) m_usualModel = "spnl/" + runsHere;
  m_form = new QFormLayout(this);
  m_form->setContentsMargins(0, 0, 0, 0);
  m_form->setHorizontalSpacing(4 * kSpace);
  m_form->setVerticalSpacing(2 * kSpace);
  m_form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
  makeQueryFields();
  makeRequestFields(settings.seed);
  makeTokenFields(settings);
  setTarget(*m_target);
}

void ExportSettings::makeQueryFields() {
  m_stage = new QComboBox(this);
  m_stage->setAccessibleName(tr("Stage"));
  m_stage->setToolTip(tr("Choose the stage of IBM/spnl's rewriting"));
  updateStages();
  m_model = new QLineEdit(this);
  m_model->setAccessibleName(tr("Model"));
  m_model->setPlaceholderText(
      m_usualModel.empty()
          ? tr("as in the query")
          : tr("as in the query; %1 if the query has none").arg(QString::fromStdString(m_usualModel)));
  m_model->setToolTip(tr("Replace every model of the query, e.g. spnl/granite-3.3-8b"));
  m_oneLine = new QCheckBox(tr("On one &line"), this);
  m_oneLine->setToolTip(tr("Write the query as IBM/spnl does, without white space"));
  m_inlineFiles = new QCheckBox(tr("Put &files inline"), this);
  m_inlineFiles->setToolTip(tr("Write the current contents of the files instead of their paths"));
  connect(m_inlineFiles, &QCheckBox::toggled, this, &ExportSettings::changed);
  m_form->addRow(tr("S&tage"), m_stage);
  m_form->addRow(tr("&Model"), m_model);
  m_form->addRow(QString(), m_oneLine);
  m_form->addRow(QString(), m_inlineFiles);
  connect(m_stage, &QComboBox::currentIndexChanged, this, [this] {
    m_form->setRowVisible(m_oneLine, has(ExportOption::OneLine) &&
                                         m_stage->currentData() != static_cast<int>(ExportStage::Lowered));
    Q_EMIT changed();
  });
  connect(m_model, &QLineEdit::textChanged, this, &ExportSettings::changed);
  connect(m_oneLine, &QCheckBox::toggled, this, &ExportSettings::changed);
}

void ExportSettings::makeRequestFields(std::uint64_t seed) {
  m_runSeed = seed;
  m_endpoint = new QLineEdit(this);
  m_endpoint->setAccessibleName(tr("Endpoint"));
  m_endpoint->setToolTip(tr("Enter the address of the server's endpoint"));
  m_stream = new QCheckBox(tr("&Stream the answer"), this);
  m_stream->setChecked(true);
  m_stream->setToolTip(tr("Let the server send tokens one by one. An answer of one token is never streamed"));
  m_seed = new QCheckBox(tr("Send the run's s&eed, %1").arg(seed), this);
  m_seed->setToolTip(
      tr("Derive the seed of each request from this seed, so that equal requests get different answers. "
         "Default: the server chooses a seed"));
  m_form->addRow(tr("&Endpoint"), m_endpoint);
  m_form->addRow(QString(), m_stream);
  m_form->addRow(QString(), m_seed);
  connect(m_endpoint, &QLineEdit::textChanged, this, &ExportSettings::changed);
  connect(m_stream, &QCheckBox::toggled, this, &ExportSettings::changed);
  connect(m_seed, &QCheckBox::toggled, this, &ExportSettings::changed);
}

QWidget* ExportSettings::makeTokenizerField() {
  m_tokenizerField = new QWidget(this);
  auto* row = new QHBoxLayout(m_tokenizerField);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(2 * kSpace);
  auto* browse = new QToolButton(m_tokenizerField);
  browse->setText(tr("…"));
  browse->setAccessibleName(tr("Choose a model folder"));
  row->addWidget(m_tokenizer, 1);
  row->addWidget(browse);
  connect(browse, &QToolButton::clicked, this, [this] {
    const QString folder =
        QFileDialog::getExistingDirectory(this, tr("Folder of the tokenizer"), m_tokenizer->text());
    if (!folder.isEmpty()) m_tokenizer->setText(folder);
  });
  return m_tokenizerField;
}

QWidget* ExportSettings::makeMarkerFields() {
  m_markers = new QWidget(this);
  auto* row = new QHBoxLayout(m_markers);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(2 * kSpace);
  m_pad = idField(0, kPad, tr("Padding id"), tr("Set the token that fills a block before a delimiter"),
                  m_markers);
  m_plus = idField(kNoMarker, kPlus, tr("Plus delimiter id"),
                   tr("Set the token before each child of a plus (VLLM_V1_SPANS_TOKEN_PLUS of the server)"),
                   m_markers);
  m_cross =
      idField(kNoMarker, kCross, tr("Cross delimiter id"),
              tr("Set the token before the last child of a cross (VLLM_V1_SPANS_TOKEN_CROSS of the server)"),
              m_markers);
  for (const auto& [title, field] :
       {std::pair(tr("padding"), m_pad), std::pair(tr("plus"), m_plus), std::pair(tr("cross"), m_cross)}) {
    if (field != m_pad) field->setSpecialValueText(tr("none"));
    auto* label = new QLabel(title, m_markers);
    label->setBuddy(field);
    row->addWidget(label);
    row->addWidget(field);
    row->addSpacing(2 * kSpace);
    connect(field, &QSpinBox::valueChanged, this, &ExportSettings::changed);
  }
  row->addStretch();
  return m_markers;
}

void ExportSettings::makeTokenFields(const document::RunSettings& settings) {
  m_tokenizer = new QLineEdit(QString::fromStdString(settings.model), this);
  m_tokenizer->setPlaceholderText(tr("from the bundled model"));
  m_tokenizer->setAccessibleName(tr("Tokenizer"));
  m_tokenizer->setToolTip(tr("Choose the folder of the model that has the tokenizer and the template"));
  m_template = new QComboBox(this);
  m_template->setAccessibleName(tr("Chat template"));
  m_template->setToolTip(
      tr("Choose the template for the text around messages. SPNL uses the templates that begin with spnl-"));
  m_template->addItem(tr("from the model"), QString());
  const auto add = [this](const text::ChatTemplate& chat) {
    const QString name = QString::fromStdString(chat.name);
    m_template->addItem(name, name);
  };
  for (const text::ChatTemplate& chat : text::spnlChatTemplates()) add(chat);
  for (const text::KnownChatTemplate& known : text::knownChatTemplates()) add(known.chat);
  m_blockSize = new QSpinBox(this);
  m_blockSize->setRange(1, kMostBlockSize);
  m_blockSize->setValue(settings.blockSize);
  m_blockSize->setSuffix(tr(" tokens"));
  m_blockSize->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
  m_blockSize->setMinimumWidth(120);
  m_blockSize->setAccessibleName(tr("Block size"));
  m_blockSize->setToolTip(tr("Set the block size of the server. Spans begin at block boundaries"));
  m_form->addRow(tr("T&okenizer"), makeTokenizerField());
  m_form->addRow(tr("Tem&plate"), m_template);
  m_form->addRow(tr("&Block"), m_blockSize);
  m_form->addRow(tr("Ids"), makeMarkerFields());
  connect(m_tokenizer, &QLineEdit::textChanged, this, &ExportSettings::changed);
  connect(m_template, &QComboBox::currentIndexChanged, this, &ExportSettings::changed);
  connect(m_blockSize, &QSpinBox::valueChanged, this, &ExportSettings::changed);
}

void ExportSettings::updateStages() {
  const QSignalBlocker quiet(m_stage);
  const QVariant current = m_stage->currentData();
  m_stage->clear();
  const auto add = [this](const QString& title, ExportStage stage) {
    m_stage->addItem(title, static_cast<int>(stage));
  };
  add(tr("Unchanged"), ExportStage::Read);
  add(tr("Simplified, one round"), ExportStage::Simplified);
  add(tr("Optimized for spans"), ExportStage::Optimized);
  if (has(ExportOption::Lowering)) add(tr("Calls for a server with span support"), ExportStage::Lowered);
  m_stage->setCurrentIndex(std::max(0, m_stage->findData(current)));
}

void ExportSettings::setTarget(const exports::ExportTarget& target) {
  m_target = &target;
  updateStages();
  m_form->setRowVisible(m_stage, has(ExportOption::Stage));
  m_form->setRowVisible(m_model, has(ExportOption::Model));
  m_form->setRowVisible(m_oneLine, has(ExportOption::OneLine) &&
                                       m_stage->currentData() != static_cast<int>(ExportStage::Lowered));
  m_form->setRowVisible(m_inlineFiles, m_hasFiles);
  m_form->setRowVisible(m_endpoint, has(ExportOption::Endpoint));
  // An address of the user stays.
  if (m_endpoint->text().isEmpty() || m_endpoint->text() == QLatin1String(m_shownEndpoint))
    m_endpoint->setText(QLatin1String(target.endpoint));
  m_shownEndpoint = target.endpoint;
  m_form->setRowVisible(m_stream, has(ExportOption::Stream));
  m_form->setRowVisible(m_seed, has(ExportOption::Seed));
  for (QWidget* field : std::initializer_list<QWidget*>{m_tokenizerField, m_template, m_blockSize, m_markers})
    m_form->setRowVisible(field, has(ExportOption::Tokens));
}

QueryExportOptions ExportSettings::options() const {
  QueryExportOptions options;
  options.target = m_target;
  if (has(ExportOption::Model)) options.model = model().toStdString();
  options.usualModel = m_usualModel;
  options.inlineFiles = m_inlineFiles->isChecked();
  options.documentPath = m_path;
  exports::ExportSettings& settings = options.settings;
  if (has(ExportOption::Stage)) settings.stage = static_cast<ExportStage>(m_stage->currentData().toInt());
  settings.oneLine = has(ExportOption::OneLine) && m_oneLine->isChecked();
  settings.endpoint = endpoint().toStdString();
  settings.stream = m_stream->isChecked();
  if (m_seed->isChecked()) settings.seed = m_runSeed;
  settings.tokens = tokenOptions();
  return options;
}

spnl::PromptTokenOptions ExportSettings::tokenOptions() const {
  return {.blockSize = m_blockSize->value(),
          .pad = m_pad->value(),
          .plus = markerOf(*m_plus),
          .cross = markerOf(*m_cross)};
}

TokenRequest ExportSettings::tokenRequest(query::Node query) const {
  return {.query = std::move(query),
          .modelDirectory = m_tokenizer->text().trimmed().toStdString(),
          .chatTemplate = m_template->currentData().toString().toStdString(),
          .options = tokenOptions()};
}

QString ExportSettings::endpoint() const {
  return m_endpoint->text().trimmed();
}

QString ExportSettings::model() const {
  return m_model->text().trimmed();
}

void ExportSettings::setEndpoint(const QString& endpoint) {
  m_endpoint->setText(endpoint);
}

void ExportSettings::setModel(const QString& model) {
  m_model->setText(model);
}

/// Keeps the last tokenizer, because settings change more often than models.
struct TokenExport::Loaded {
  std::filesystem::path directory;
  std::unique_ptr<text::Tokenizer> tokenizer;
  const text::ChatTemplate* chat = nullptr;  ///< template of the directory; nullptr: not read yet

  void load(const std::filesystem::path& from) {
    if (tokenizer != nullptr && directory == from) return;
    tokenizer.reset();
    chat = nullptr;
    tokenizer = text::loadTokenizer(from);
    directory = from;
  }
  const text::ChatTemplate& chatNamed(const std::string& name) {
    if (!name.empty()) return text::chatTemplateNamed(name);
    if (chat == nullptr) chat = &text::findChatTemplate(directory);
    return *chat;
  }

  TokenText make(const TokenRequest& request, const std::stop_token& stop) {
    load(request.modelDirectory.empty() ? workbench::bundledModelDirectory() : request.modelDirectory);
    exports::ExportSettings settings{.tokens = request.options,
                                     .tokenizer = tokenizer.get(),
                                     .chat = &chatNamed(request.chatTemplate),
                                     .stop = stop};
    auto written = exports::findExportTarget("tokens")->write(request.query, settings);
    TokenText made;
    if (auto* problem = std::get_if<Error>(&written)) {
      made.problem = std::move(*problem);
    } else {
      made.made = std::get<exports::ExportedText>(std::move(written));
    }
    return made;
  }
};

TokenExport::TokenExport(QObject* parent)
    : QObject(parent), m_loaded(std::make_shared<Loaded>()), m_thread(std::make_unique<TaskThread>()) {}

TokenExport::~TokenExport() {
  m_stop.request_stop();
}

void TokenExport::cancel() {
  m_stop.request_stop();
  ++m_asked;
}

void TokenExport::start(TokenRequest request) {
  cancel();
  m_stop = std::stop_source();
  m_thread->post(
      [this, loaded = m_loaded, asked = m_asked, stop = m_stop.get_token(), request = std::move(request)] {
        if (stop.stop_requested()) return;
        TokenText made;
        try {
          made = loaded->make(request, stop);
        } catch (const Failure& failure) {
          made.problem = failure.error();
        } catch (const std::exception& problem) {
          made.problem = Error{.file = {}, .place = {}, .found = problem.what(), .expected = {}};
        }
        if (stop.stop_requested()) return;
        QMetaObject::invokeMethod(this, [this, asked, made = std::move(made)] {
          if (asked != m_asked) return;
          Q_EMIT ready(made);
        });
      });
}

namespace {

/// Replaces every file by a message with its text. Returns the reason if a file cannot be read.
std::optional<QString> putInline(query::Node& query, const document::NodePaths& paths,
                                 const std::vector<Problem>& problems, const QString& documentPath) {
  RunInputs inputs(documentPath, {});
  std::optional<QString> reason;
  query::walk(query, {}, [&](query::Node& node, const NodePath& path) {
    if (reason || query::infoOf(node).resolvedBy != query::ResolvedBy::Files) return;
    auto text = query::readTextFile(inputs, *query::textOf(node));
    if (auto* missing = std::get_if<query::NotGiven>(&text)) {
      const auto listed = std::find_if(problems.begin(), problems.end(), [&](const Problem& problem) {
        return problem.severity == Severity::Error && problem.node == paths.nodeOf(path);
      });
      reason = listed != problems.end()
                   ? saidOf(*listed)
                   : QString::fromStdString(
                         errorAt({}, std::move(missing->found), std::move(missing->expected)).message());
      return;
    }
    node.value = query::Message{query::Role::User, std::get<std::string>(std::move(text))};
  });
  return reason;
}

/// Sets the model names: the chosen name for all, or a default where the query has no name.
void nameModels(query::Node& query, const QueryExportOptions& options) {
  spnl::changeSettings(query, [&options](query::GenerateSettings& settings) {
    if (!options.model.empty())
      settings.model = options.model;
    else if (settings.model.empty())
      settings.model = options.usualModel;
  });
}

}  // namespace

std::variant<QueryExport, QString> exportQuery(const document::Document& document,
                                               const QueryExportOptions& options) {
  const std::vector<Problem> problems = options.problems.empty() ? findProblems(document) : options.problems;
  document::QueryOf made;
  if (document.root() != document::kNoNode)
    made = document::toQuery(document, document::TakeOut::MutedAndFrozen);
  if (!made.query || !made.incomplete.empty()) return refusalOf(problems);

  QueryExport result;
  result.query = workbench::runPipeline({.source = std::move(*made.query),
                                         .parameters = document::effectiveValues(document),
                                         .keepsNumbers = true},
                                        workbench::Stage::Parameters)
                     .takeQuery();
  if (options.inlineFiles) {
    std::optional<QString> reason = putInline(result.query, made.paths, problems, options.documentPath);
    if (reason) return std::move(*reason);
  }
  nameModels(result.query, options);
  // Tokens require a tokenizer, so another thread makes them.
  if (!options.target->has(exports::ExportOption::Tokens)) {
    auto written = options.target->write(result.query, options.settings);
    if (auto* error = std::get_if<Error>(&written)) return QString::fromStdString(error->message());
    result.text = std::get<exports::ExportedText>(std::move(written)).text;
  }
  result.remarks = exportRemarks(document, result.query, made.paths, problems, options);
  return result;
}

namespace {

using document::Document;
using document::NodeId;
using exports::Effect;

/// Returns `one` for 1, else `many` with the number for %1.
QString counted(int count, const QString& one, const QString& many) {
  return count == 1 ? one : many.arg(count);
}

class Remarks {
 public:
  void add(Effect effect, const QString& text, NodeId node = document::kNoNode) {
    m_remarks.push_back({.effect = effect, .text = text, .node = node});
  }
  void note(const QString& text, NodeId node = document::kNoNode) { add(Effect::Note, text, node); }

  std::vector<ExportRemark> take() {
    std::stable_sort(m_remarks.begin(), m_remarks.end(),
                     [](const ExportRemark& a, const ExportRemark& b) { return a.effect < b.effect; });
    return std::move(m_remarks);
  }

 private:
  std::vector<ExportRemark> m_remarks;
};

void addEndpoint(Remarks& remarks, const QueryExportOptions& options) {
  if (!options.target->has(exports::ExportOption::Endpoint) || options.settings.endpoint.empty()) return;
  const QUrl url(QString::fromStdString(options.settings.endpoint), QUrl::StrictMode);
  if (!url.isValid() || url.host().isEmpty() ||
      (url.scheme() != QLatin1String("http") && url.scheme() != QLatin1String("https"))) {
    remarks.add(Effect::Refused, tr("The endpoint must begin with http:// or https://."));
  }
}

/// Adds the errors of a local run as notes. Another server may still run the query, because the server may
/// have the file or more memory.
void addRefusals(Remarks& remarks, const std::vector<Problem>& problems) {
  for (const Problem& problem : problems) {
    if (problem.severity == Severity::Error)
      remarks.note(tr("The query cannot run here: %1").arg(saidOf(problem)), problem.node);
  }
}

void addTakenOut(Remarks& remarks, const Document& document) {
  if (document.root() == document::kNoNode) return;
  int muted = 0;
  int frozen = 0;
  NodeId firstMuted = document::kNoNode;
  NodeId firstFrozen = document::kNoNode;
  for (const NodeId id : document.subtree(document.root())) {
    const document::DocumentNode& node = document.at(id);
    if (node.muted && id != document.root() && muted++ == 0) firstMuted = id;
    if (node.isFrozen() && frozen++ == 0) firstFrozen = id;
  }
  if (muted > 0) {
    remarks.note(
        counted(muted, tr(/*id:muted-node-left*/ "A muted node and everything under it is left out."),
                tr("%1 muted nodes and everything under them are left out.")),
        firstMuted);
  }
  if (frozen > 0) {
    remarks.note(counted(frozen, tr(/*id:frozen-node-sent*/ "A frozen node is replaced by its answer."),
                         tr("%1 frozen nodes are replaced by their answers.")),
                 firstFrozen);
  }
  const auto others = static_cast<int>(document.tops().size()) - 1;
  if (others > 0) {
    remarks.note(counted(others,
                         tr(/*id:tree-beside-query*/ "A tree next to the query is not part of the query."),
                         tr("%1 trees next to the query are not part of the query.")));
  }
  remarks.note(tr("Layout, names, notes and run settings are not exported."));
}

}  // namespace

std::vector<ExportRemark> exportRemarks(const Document& document, const query::Node& query,
                                        const document::NodePaths& paths,
                                        const std::vector<Problem>& problems,
                                        const QueryExportOptions& options) {
  Remarks remarks;
  for (const exports::TargetRemark& remark :
       exports::exportRemarks(query, *options.target, options.settings)) {
    remarks.add(remark.effect, QString::fromStdString(remark.text),
                remark.places.empty() ? document::kNoNode : paths.nodeOf(remark.places.front()));
  }
  addEndpoint(remarks, options);
  addRefusals(remarks, problems);
  addTakenOut(remarks, document);
  return remarks.take();
}

}  // namespace spanscope::ui
