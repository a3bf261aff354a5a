// SPDX-License-Identifier: GPL-3.0-or-later
// SPANSCOPE_DOCUMENTS sets how many documents are ranked with the bundled model.
#include "engine/base/error.h"
#include "engine/model/config.h"
#include "engine/model/decoder.h"
#include "engine/model/weights.h"
#include "engine/retrieve/decoder_embedder.h"
#include "engine/retrieve/passage_index.h"
#include "engine/retrieve/ranking.h"
#include "tests/engine/retrieve/generated_documents.h"
#include "tests/engine/retrieve/stand_ins.h"
#include "tests/engine/text/text_test_support.h"
#include "tests/support/backends.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>

using namespace spanscope;
using namespace spanscope::retrieve;
using spanscope::retrieve::test::generateDocuments;
using spanscope::retrieve::test::WordEmbedder;
using spanscope::text::test::testSeed;

class TestRanking : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase();
  void namesAreReadBack();
  void ranksAreFused();
  void vectorIsTheMeanOfTheHiddenStates();
  void vectorIsTheLastHiddenState();
  void questionsHaveAnInstruction();
  void instructionsAreRead();
  void vectorsDependOnTheirTextAlone();
  void embeddingCanBeStopped();
  void everyRankingFindsKnownItems_data();
  void everyRankingFindsKnownItems();

 private:
  std::unique_ptr<text::Tokenizer> m_tokenizer;
  model::ModelConfig m_config;
  std::unique_ptr<model::WeightSource> m_weights;
  std::unique_ptr<compute::Backend> m_backend;
  std::unique_ptr<model::Decoder> m_decoder;

  DecoderEmbedder embedder() { return {*m_decoder, *m_backend, *m_tokenizer, "spanlet"}; }
};

namespace {

Passage passage(std::int64_t number, double score) {
  Passage result;
  result.document = "d";
  result.number = number;
  result.score = score;
  return result;
}

double lengthOf(const EmbeddingVector& vector) {
  double sum = 0;
  for (const float value : vector) sum += static_cast<double>(value) * value;
  return std::sqrt(sum);
}

}  // namespace

void TestRanking::initTestCase() {
  m_tokenizer = text::loadTokenizer(text::test::bundledModel());
  m_config = model::readConfig(text::test::bundledModel());
  m_weights = model::openSafetensors(text::test::bundledModel());
  m_backend = spanscope::test::makeBackend();
  m_decoder = std::make_unique<model::Decoder>(m_config, *m_weights, *m_backend);
}

void TestRanking::namesAreReadBack() {
  for (const Ranking ranking : {Ranking::Lexical, Ranking::Embedding, Ranking::Hybrid})
    QVERIFY(parseRanking(rankingName(ranking)) == ranking);
  QVERIFY(!parseRanking("Lexical") && !parseRanking(""));
}

void TestRanking::ranksAreFused() {
  // By hand: 1/61 + 1/63 for number 1, 1/62 + 1/61 for number 2, 1/63 for number 3, 1/62 for number 4.
  const auto fused = fuseRanks({passage(1, 9), passage(2, 8), passage(3, 7)},
                               {passage(2, 0.9), passage(4, 0.8), passage(1, 0.7)});
  std::vector<std::int64_t> order;
  for (const RankedPassage& ranked : fused) order.push_back(ranked.passage.number);
  QCOMPARE(order, (std::vector<std::int64_t>{2, 1, 4, 3}));
  QCOMPARE(fused[0].passage.score, 1.0 / 62 + 1.0 / 61);
  QCOMPARE(fused[1].passage.score, 1.0 / 61 + 1.0 / 63);
  QVERIFY(fused[0].lexical == (Placing{2, 8}) && fused[0].embedding == (Placing{1, 0.9}));
  QVERIFY(fused[2].embedding == (Placing{2, 0.8}) && !fused[2].lexical);
  QVERIFY(fuseRanks({}, {}).empty());
}

void TestRanking::vectorIsTheMeanOfTheHiddenStates() {
  // One sequence by hand, in blocks of another size than the embedder's.
  const std::string text = "Mira lives in Lisbon. Mira plays the cello.";
  const std::vector<TokenId> ids = m_tokenizer->encode(text);
  const auto count = static_cast<std::int32_t>(ids.size());
  const auto store = m_backend->makeKvStore(m_decoder->kvShape(3, 64, compute::DType::F32));
  model::Batch batch;
  batch.tokens = ids;
  compute::KeyRange keys{.blocks = {1}, .begin = 0, .end = count, .base = 0, .causal = true};
  for (std::int32_t i = 0; i < count; ++i) {
    batch.localIndices.push_back(i);
    batch.slots.push_back(64 + i);
    batch.hiddenRows.push_back(i);
  }
  batch.runs = {{0, count, 0, {keys}}};
  const model::ForwardResult result = m_decoder->forward(batch, *store, {});
  const auto width = static_cast<std::size_t>(m_config.hiddenSize);
  QCOMPARE(result.hidden.size(), ids.size() * width);
  std::vector<double> mean(width, 0.0);
  for (std::size_t i = 0; i < result.hidden.size(); ++i)
    mean[i % width] += static_cast<double>(result.hidden[i]);
  double size = 0;
  for (const double value : mean) size += value * value;

  const std::vector<EmbeddingVector> vectors = embedder().embed({&text, 1}, {});
  QCOMPARE(vectors.size(), std::size_t{1});
  QCOMPARE(vectors[0].size(), width);
  for (std::size_t i = 0; i < width; ++i)
    QVERIFY(std::abs(static_cast<double>(vectors[0][i]) - mean[i] / std::sqrt(size)) < 1e-6);
}

/// A model that was trained so gives the state of the final token, which follows the text.
void TestRanking::vectorIsTheLastHiddenState() {
  constexpr TokenId kFinal = 7;
  model::ModelConfig config = m_config;
  config.pooling = model::Pooling::Last;
  model::Decoder decoder(config, *m_weights, *m_backend);
  const std::string text = "Mira lives in Lisbon. Mira plays the cello.";
  std::vector<TokenId> ids = m_tokenizer->encode(text);
  ids.push_back(kFinal);
  const auto count = static_cast<std::int32_t>(ids.size());
  const auto store = m_backend->makeKvStore(decoder.kvShape(3, 64, compute::DType::F32));
  model::Batch batch;
  batch.tokens = ids;
  compute::KeyRange keys{.blocks = {1}, .begin = 0, .end = count, .base = 0, .causal = true};
  for (std::int32_t i = 0; i < count; ++i) {
    batch.localIndices.push_back(i);
    batch.slots.push_back(64 + i);
  }
  batch.hiddenRows = {count - 1};
  batch.runs = {{0, count, 0, {keys}}};
  const model::ForwardResult result = decoder.forward(batch, *store, {});
  double size = 0;
  for (const float value : result.hidden) size += static_cast<double>(value) * value;

  DecoderEmbedder last(decoder, *m_backend, *m_tokenizer, "spanlet", kFinal);
  const std::vector<EmbeddingVector> vectors = last.embed({&text, 1}, {});
  QCOMPARE(vectors[0].size(), result.hidden.size());
  for (std::size_t i = 0; i < result.hidden.size(); ++i) {
    const double expected = static_cast<double>(result.hidden[i]) / std::sqrt(size);
    QVERIFY(std::abs(static_cast<double>(vectors[0][i]) - expected) < 1e-6);
  }
  QVERIFY(last.fingerprint() != embedder().fingerprint());
  QVERIFY(last.fingerprint() != DecoderEmbedder(decoder, *m_backend, *m_tokenizer, "spanlet").fingerprint());
  // A text of several windows, and one without tokens.
  std::string longer;
  while (m_tokenizer->encode(longer).size() <= std::size_t{2} * DecoderEmbedder::kWindow)
    longer += "Tarek is a baker. ";
  const std::vector<std::string> texts = {longer, "", text};
  const std::vector<EmbeddingVector> together = last.embed(texts, {});
  QVERIFY(std::abs(lengthOf(together[0]) - 1) < 1e-5);
  QVERIFY(lengthOf(together[1]) < 1e-5);
  QVERIFY(together[2] == vectors[0]);
}

/// A model that was trained with an instruction before questions gets it there, and not before passages.
void TestRanking::questionsHaveAnInstruction() {
  const EmbeddingPrompts prompts{.question = "Query: ", .passage = {}};
  DecoderEmbedder asked(*m_decoder, *m_backend, *m_tokenizer, "spanlet", -1, prompts);
  const std::string text = "Where does Mira live?";
  const std::string whole = prompts.question + text;
  QVERIFY(asked.embedQuestion(text, {}) == embedder().embed({&whole, 1}, {}));
  QVERIFY(asked.embed({&text, 1}, {}) == embedder().embed({&text, 1}, {}));
  QVERIFY(embedder().embedQuestion(text, {}) == embedder().embed({&text, 1}, {}));
  QCOMPARE(asked.fingerprint(), embedder().fingerprint());
  DecoderEmbedder both(*m_decoder, *m_backend, *m_tokenizer, "spanlet", -1,
                       {.question = "query: ", .passage = "passage: "});
  const std::string passage = "passage: " + text;
  QVERIFY(both.embed({&text, 1}, {}) == embedder().embed({&passage, 1}, {}));
  QVERIFY(both.fingerprint() != embedder().fingerprint());
}

void TestRanking::instructionsAreRead() {
  const QTemporaryDir folder;
  const std::filesystem::path path = folder.path().toStdString();
  QVERIFY(embeddingPromptsOf(path) == EmbeddingPrompts());
  std::ofstream(path / "config_sentence_transformers.json")
      << R"({"prompts": {"query": "Instruct: find\nQuery:", "document": ""}, "similarity_fn_name": "cosine"})";
  QVERIFY(embeddingPromptsOf(path) ==
          (EmbeddingPrompts{.question = "Instruct: find\nQuery:", .passage = {}}));
  std::ofstream(path / "config_sentence_transformers.json") << R"({"prompts": {"query": 3}})";
  QVERIFY_EXCEPTION_THROWN((void)embeddingPromptsOf(path), Failure);
}

void TestRanking::vectorsDependOnTheirTextAlone() {
  std::mt19937_64 random(testSeed());
  std::vector<std::string> texts = {"", "Mira lives in Lisbon."};
  for (int i = 0; i < 20; ++i) texts.push_back(text::test::randomText(random, random() % 300));
  std::string longer;
  while (m_tokenizer->encode(longer).size() <= std::size_t{2} * DecoderEmbedder::kWindow)
    longer += "Tarek is a baker. ";
  texts.push_back(longer);
  DecoderEmbedder many = embedder();
  const std::vector<EmbeddingVector> together = many.embed(texts, {});
  QCOMPARE(together.size(), texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::vector<EmbeddingVector> alone = many.embed({&texts[i], 1}, {});
    QVERIFY2(alone[0] == together[i], texts[i].c_str());
    const bool isEmpty = m_tokenizer->encode(texts[i]).empty();
    QVERIFY(std::abs(lengthOf(alone[0]) - (isEmpty ? 0 : 1)) < 1e-5);
  }
}

void TestRanking::embeddingCanBeStopped() {
  std::stop_source stop;
  stop.request_stop();
  const std::string text = "Mira lives in Lisbon.";
  QVERIFY(embedder().embed({&text, 1}, stop.get_token()).empty());
  DecoderEmbedder model = embedder();
  PassageIndex index;
  const auto indexed = index.add({{"a.txt", text}}, *m_tokenizer);
  QVERIFY(!index.embed(indexed.keys, model, {.progress = {}, .stop = stop.get_token()}));
  QCOMPARE(index.vectorCount(), std::size_t{0});
  QVERIFY(index.embed(indexed.keys, model));
  QCOMPARE(index.vectorCount(), std::size_t{1});
}

void TestRanking::everyRankingFindsKnownItems_data() {
  QTest::addColumn<bool>("model");
  QTest::addColumn<QString>("ranking");
  QTest::addColumn<int>("leastPercent");
  QTest::newRow("words, lexical") << false << "lexical" << 100;
  QTest::newRow("words, hybrid") << false << "hybrid" << 100;
  QTest::newRow("model, hybrid") << true << "hybrid" << 100;
  // The bundled model was made to copy answers, not to embed.
  QTest::newRow("model, embedding") << true << "embedding" << 3;
}

void TestRanking::everyRankingFindsKnownItems() {
  QFETCH(bool, model);
  QFETCH(QString, ranking);
  QFETCH(int, leastPercent);
  bool given = false;
  const int wanted = qEnvironmentVariableIntValue("SPANSCOPE_DOCUMENTS", &given);
  const auto generated =
      generateDocuments(static_cast<std::size_t>(given && wanted > 0 ? wanted : 60), testSeed());
  PassageIndex index;
  const auto indexed = index.add(generated.documents, *m_tokenizer, {.chunk = {.tokens = 64, .overlap = 8}});
  WordEmbedder words;
  DecoderEmbedder own = embedder();
  Embedder& chosen = model ? static_cast<Embedder&>(own) : words;
  QVERIFY(index.embed(indexed.keys, chosen));
  std::size_t found = 0;
  for (const auto& item : generated.items) {
    auto ranked =
        rankPassages(index, item.question, 3, *parseRanking(ranking.toStdString()), std::nullopt, &chosen);
    QVERIFY(ranked.size() <= (ranking == QLatin1String("hybrid") ? 6 : 3));
    if (ranked.size() > 3) ranked.resize(3);
    found += std::any_of(ranked.begin(), ranked.end(), [&](const RankedPassage& entry) {
      return entry.passage.document == indexed.keys[item.document];
    });
  }
  qInfo("%zu of %zu known items in the top 3", found, generated.items.size());
  QVERIFY(found * 100 >= generated.items.size() * static_cast<std::size_t>(leastPercent));
}

SPANSCOPE_TEST(tst_ranking, TestRanking, QCoreApplication)
#include "tst_ranking.moc"
