// SPDX-License-Identifier: GPL-3.0-or-later
// The texts for the user about a checkpoint with an unknown chat template, and the reasons that prevent a
// model from being opened.
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/document/problems.h"
#include "engine/workbench/model_problem.h"
#include "engine/workbench/setting_choices.h"
#include "engine/workbench/template_facts.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <filesystem>
#include <fstream>

using namespace spanscope;
using namespace spanscope::workbench;

namespace {

/// A copy of the bundled model whose chat template is this Jinja text.
class CopiedModel {
 public:
  explicit CopiedModel(const std::string& jinja) {
    std::filesystem::copy(
        SPANSCOPE_SOURCE_DIR "/resources/models/spanlet", path(),
        std::filesystem::copy_options::overwrite_existing | std::filesystem::copy_options::recursive);
    std::ofstream(path() / "chat_template.jinja") << jinja;
  }
  std::filesystem::path path() const { return m_folder.path().toStdString(); }
  RunSettings settings() const {
    RunSettings settings;
    settings.model = path().string();
    return settings;
  }

 private:
  QTemporaryDir m_folder;
};

/// A template that does not write the texts of messages.
constexpr const char* kUnknown = "{% for m in messages %}### {{ m.role }}: {% endfor %}";

}  // namespace

class TestTemplateFacts : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void knownIsNamed() {
    const TemplateFacts facts = templateFacts(SPANSCOPE_SOURCE_DIR "/resources/models/spanlet");
    QVERIFY(facts.found && facts.source && facts.tokenizer);
    QCOMPARE(facts.found->chat->name, std::string("spanlet"));
    QCOMPARE(facts.problem, std::string());
  }

  void unknownIsShownAsItStands() {
    const CopiedModel model(kUnknown);
    const TemplateFacts facts = templateFacts(model.path());
    QVERIFY(!facts.found && !facts.problem.empty());
    QCOMPARE(facts.source->text, std::string(kUnknown));
    QCOMPARE(facts.source->file, (model.path() / "chat_template.jinja").string());
  }

  void candidatesThatCanBeWrittenComeFirst() {
    const CopiedModel model(kUnknown);
    const std::vector<TemplateCandidate> candidates = templateFacts(model.path()).candidates;
    QCOMPARE(candidates.size(), text::chatTemplates().size());
    QVERIFY(candidates.front().missingPiece.empty());
    QVERIFY(!candidates.back().missingPiece.empty());
    QVERIFY(std::is_partitioned(candidates.begin(), candidates.end(),
                                [](const auto& each) { return each.missingPiece.empty(); }));
    const auto chatml = std::find_if(candidates.begin(), candidates.end(),
                                     [](const auto& each) { return each.chat->name == "chatml"; });
    QCOMPARE(chatml->missingPiece, std::string("<|im_start|>"));
  }

  void spelledPiecesMakeACandidateLikely() {
    const CopiedModel model(
        "{{ '<|system|>' }}{{ '<|user|>' }}{{ '<|assistant|>' }}{{ '<|end|>' }} of a kind");
    const std::vector<TemplateCandidate> candidates = templateFacts(model.path()).candidates;
    QCOMPARE(candidates.front().chat->name, std::string("spanlet"));
    QVERIFY(candidates.front().isSpelled);
  }

  void everyTemplateWritesTheSample() {
    for (const text::ChatTemplate* chat : text::chatTemplates()) {
      const std::string sample = sampleConversation(*chat);
      for (const char* words : {"The capital of France?", "Paris", "And of Peru?"})
        QVERIFY2(sample.find(words) != std::string::npos, sample.c_str());
    }
  }

  void choicesAreTheTable() {
    const Choices choices = templateChoices();
    QCOMPARE(choices.front().name, std::string("auto"));
    QVERIFY(templateOf("auto") == nullptr);
    for (std::size_t i = 1; i < choices.size(); ++i) {
      if (choices[i].name == kJinjaTemplate) {
        QVERIFY(templateOf(choices[i].name) == nullptr);
        continue;
      }
      QVERIFY(templateOf(choices[i].name) != nullptr);
      QCOMPARE(templateOf(choices[i].name)->name, choices[i].name);
    }
  }

  void choosingRemovesTheReason() {
    const CopiedModel model(kUnknown);
    RunSettings settings = model.settings();
    const std::optional<ModelProblem> reason = modelProblem(settings);
    QVERIFY(reason && reason->isOfTemplate);
    settings.chatTemplate = "spanlet";
    QVERIFY(!modelProblem(settings));
  }

  /// A template that has a known one's marks, but may write its turns in another way.
  void whatMarksTellIsAWarning() {
    const CopiedModel model(
        "{{ 'Be brief' }}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' }}");
    RunSettings settings = model.settings();
    QVERIFY(!modelProblem(settings));
    QCOMPARE(guessedTemplate(settings), std::string("chatml"));
    document::Document document = document::fromQuery(query::Node{});
    document.settings = settings;
    const std::vector<document::QueryProblem> problems =
        document::problemsOf(document, {.guessedTemplate = guessedTemplate(settings)});
    const auto reported =
        std::find_if(problems.begin(), problems.end(),
                     [](const document::QueryProblem& problem) { return problem.isOfTemplate; });
    QVERIFY(reported != problems.end() && reported->severity == Severity::Warning);
    QVERIFY(reported->text.words().find("chatml") != std::string::npos);
    settings.chatTemplate = "spanlet";
    QVERIFY(guessedTemplate(settings).empty());
    QVERIFY(guessedTemplate(RunSettings{}).empty());  // the bundled model's is known
  }

  void otherReasonsStay_data() {
    QTest::addColumn<QString>("config");
    QTest::addColumn<QString>("found");
    QTest::newRow("hybrid") << R"({"architectures": ["Qwen3NextForCausalLM"], "model_type": "qwen3_next"})"
                            << "Qwen3Next";
    QTest::newRow("broken") << "{"
                            << "";
  }
  void otherReasonsStay() {
    QFETCH(QString, config);
    QFETCH(QString, found);
    const CopiedModel model(kUnknown);
    std::ofstream(model.path() / "config.json") << config.toStdString();
    RunSettings settings = model.settings();
    settings.chatTemplate = "spanlet";
    const std::optional<ModelProblem> reason = modelProblem(settings);
    QVERIFY(reason && !reason->isOfTemplate);
    QVERIFY2(QString::fromStdString(reason->error.message()).contains(found),
             reason->error.message().c_str());
  }

  /// What loading would refuse is said before, though no weight is read.
  void brokenWeightsAreAnReason_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<int>("bytes");
    QTest::addColumn<bool>("isCheap");  ///< known without reading the tokenizer
    QTest::newRow("no weights") << "model.safetensors" << 0 << true;
    QTest::newRow("weights that are cut") << "model.safetensors" << 1'000'000 << true;
    QTest::newRow("a header that is cut") << "model.safetensors" << 100 << true;
    QTest::newRow("no tokenizer") << "tokenizer.model" << 0 << false;
    QTest::newRow("a tokenizer that is cut") << "tokenizer.model" << 1000 << false;
  }
  void brokenWeightsAreAnReason() {
    QFETCH(QString, file);
    QFETCH(int, bytes);
    QFETCH(bool, isCheap);
    const CopiedModel model(kUnknown);
    RunSettings settings = model.settings();
    settings.chatTemplate = "spanlet";
    QVERIFY(!modelProblem(settings) && !lookAtModel(settings).reason && lookAtModel(settings).model);
    const std::filesystem::path path = model.path() / file.toStdString();
    if (bytes == 0)
      std::filesystem::remove(path);
    else
      std::filesystem::resize_file(path, static_cast<std::uintmax_t>(bytes));
    QCOMPARE(modelProblem(settings).has_value(), isCheap);
    const ModelLook look = lookAtModel(settings);
    QVERIFY(look.reason && !look.reason->isOfTemplate && !look.model);
  }

  /// No template helps a model without a tokenizer.
  void noTokenizerIsNoTemplateReason() {
    const CopiedModel model(kUnknown);
    for (const char* file : {"tokenizer.model", "tokenizer_config.json", "chat_template.jinja"})
      std::filesystem::remove(model.path() / file);
    const std::optional<ModelProblem> reason = modelProblem(model.settings());
    QVERIFY(reason && !reason->isOfTemplate);
  }

  /// Another number of layers than the weights have.
  void aForeignConfigurationIsAnReason() {
    for (const char* layers : {"5", "7"}) {
      const CopiedModel model(kUnknown);
      RunSettings settings = model.settings();
      settings.chatTemplate = "spanlet";
      QFile config(QString::fromStdString((model.path() / "config.json").string()));
      QVERIFY(config.open(QIODevice::ReadOnly));
      const QByteArray text = config.readAll();
      config.close();
      const QByteArray changed = QByteArray(text).replace("\"num_hidden_layers\": 6",
                                                          QByteArray("\"num_hidden_layers\": ") + layers);
      QVERIFY(changed != text);
      std::ofstream(model.path() / "config.json") << changed.toStdString();
      QVERIFY(modelProblem(settings));
    }
  }

  void noFolderIsAnReason() {
    RunSettings settings;
    settings.model = "/nowhere/at/all";
    QVERIFY(modelProblem(settings) && !modelProblem(settings)->isOfTemplate);
  }
};

SPANSCOPE_TEST(tst_template_facts, TestTemplateFacts, QCoreApplication)
#include "tst_template_facts.moc"
