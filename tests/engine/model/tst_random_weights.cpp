// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "engine/compute/dtype.h"
#include "engine/model/decoder.h"
#include "engine/model/weights.h"
#include "tests/support/backends.h"
#include "tests/support/run_segments.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>
#include <cstring>
#include <set>
#include <string>

using namespace spanscope;
using namespace spanscope::model;
using compute::DType;

namespace {

std::vector<float> values(const compute::HostMatrix& matrix) {
  std::vector<float> result(static_cast<std::size_t>(matrix.rows * matrix.columns));
  compute::widen(matrix.format, matrix.data, matrix.rows * matrix.columns, result.data());
  return result;
}

std::string bytes(const compute::HostMatrix& matrix) {
  return {reinterpret_cast<const char*>(matrix.data), matrix.bytes()};
}

std::int64_t parameters(const ModelConfig& config) {
  const std::int64_t hidden = config.hiddenSize;
  const std::int64_t attention =
      2 * hidden * config.heads * config.headSize + 2 * hidden * config.keyValueHeads * config.headSize;
  const std::int64_t layer = attention + 3 * hidden * config.intermediateSize + 2 * hidden;
  return config.layers * layer + hidden + (config.tiedEmbeddings ? 1 : 2) * hidden * config.vocabularySize;
}

}  // namespace

class TestRandomWeights : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void shapes() {
    QCOMPARE(parameters(namedShape("llama-8b")), 8030261248);
    QCOMPARE(parameters(namedShape("qwen-7b")), 7615487488);
    QCOMPARE(parameters(namedShape("llama-1b")), 1235814400);
    QCOMPARE(parameters(namedShape("21m")), 21287808);
    QCOMPARE(parameters(namedShape("3m")), 3148224);
    for (const std::string& name : model::shapeList()) {
      const ModelConfig config = namedShape(name);
      QCOMPARE(config.heads % config.keyValueHeads, 0);
      QCOMPARE(config.headSize % 2, 0);
      QCOMPARE(config.tiedEmbeddings, name != "llama-8b" && name != "qwen-7b");
    }
    try {
      namedShape("7b");
      QFAIL("there is such a shape");
    } catch (const Failure& failure) {
      QVERIFY(QString(failure.what()).contains("llama-1b"));
    }
  }

  void scale_data() {
    QTest::addColumn<int>("type");
    QTest::newRow("f32") << static_cast<int>(DType::F32);
    QTest::newRow("f16") << static_cast<int>(DType::F16);
    QTest::newRow("bf16") << static_cast<int>(DType::BF16);
  }
  void scale() {
    QFETCH(int, type);
    const ModelConfig config = namedShape("3m");
    const auto weights = makeRandomWeights(config, 9, compute::formatOf(static_cast<DType>(type)));
    const auto matrix = weights->get("model.layers.3.mlp.down_proj.weight", 192, 512);
    QVERIFY(matrix.format == compute::formatOf(static_cast<DType>(type)));
    double sum = 0, squares = 0;
    for (const float value : values(matrix)) {
      sum += static_cast<double>(value);
      squares += static_cast<double>(value) * static_cast<double>(value);
    }
    const double count = 192 * 512;
    QVERIFY(std::abs(sum / count) < 1e-3);
    QVERIFY(std::abs(squares / count * 512 - 1) < 0.02);
    for (const float value : values(weights->get("model.layers.0.input_layernorm.weight", 1, 192)))
      QCOMPARE(value, 1.0F);
  }

  void everyTensorIsItsOwn() {
    ModelConfig config = namedShape("3m");
    config.tiedEmbeddings = false;
    config.attentionBias = config.outputBias = config.mlpBias = true;
    const auto weights = makeRandomWeights(config, 9);
    const auto again = makeRandomWeights(config, 9);
    const auto other = makeRandomWeights(config, 10);
    std::set<std::string> seen;
    const auto visit = [&](const std::string& name, std::int64_t rows, std::int64_t columns) {
      const auto matrix = weights->get(name, rows, columns);
      if (!seen.insert(bytes(matrix)).second) return false;
      return bytes(matrix) == bytes(again->get(name, rows, columns)) &&
             bytes(matrix) != bytes(other->get(name, rows, columns));
    };
    QVERIFY(visit("lm_head.weight", 4096, 192));
    QVERIFY(visit("model.embed_tokens.weight", 4096, 192));
    for (int i = 0; i < 6; ++i) {
      const std::string prefix = "model.layers." + std::to_string(i) + ".";
      QVERIFY(visit(prefix + "self_attn.q_proj.weight", 192, 192));
      QVERIFY(visit(prefix + "self_attn.k_proj.weight", 64, 192));
      QVERIFY(visit(prefix + "self_attn.v_proj.weight", 64, 192));
      QVERIFY(visit(prefix + "self_attn.o_proj.weight", 192, 192));
      QVERIFY(visit(prefix + "self_attn.o_proj.bias", 1, 192));
      QVERIFY(visit(prefix + "mlp.gate_proj.weight", 512, 192));
      QVERIFY(visit(prefix + "mlp.up_proj.weight", 512, 192));
      QVERIFY(visit(prefix + "mlp.up_proj.bias", 1, 512));
    }
    QVERIFY(weights->fingerprint() == again->fingerprint());
    QVERIFY(weights->fingerprint() != other->fingerprint());
    QVERIFY(weights->fingerprint() !=
            makeRandomWeights(config, 9, compute::WeightFormat::F32)->fingerprint());
    QVERIFY(!weights->has("model.layers.6.mlp.up_proj.weight"));
    QVERIFY_EXCEPTION_THROWN(weights->get("lm_head.bias", 1, 4096), Failure);
    QVERIFY_EXCEPTION_THROWN(weights->get("lm_head.weight", 192, 4096), Failure);
  }

  /// Every format has values of the same mean and variance, whatever its blocks hold.
  void packedScale_data() {
    QTest::addColumn<int>("format");
    for (const compute::WeightFormatInfo& info : compute::weightFormats()) {
      if (info.isPacked()) QTest::newRow(info.name) << static_cast<int>(info.format);
    }
  }
  void packedScale() {
    QFETCH(int, format);
    ModelConfig config = namedShape("3m");
    config.hiddenSize = 256;  // whole blocks of all formats
    config.mlpBias = true;
    const auto wanted = static_cast<compute::WeightFormat>(format);
    const auto weights = makeRandomWeights(config, 9, wanted);
    const auto matrix = weights->get("model.layers.3.mlp.down_proj.weight", 256, 512);
    QVERIFY(matrix.format == wanted);
    double sum = 0, squares = 0;
    for (const float value : values(matrix)) {
      sum += static_cast<double>(value);
      squares += static_cast<double>(value) * static_cast<double>(value);
    }
    const double count = 256 * 512;
    // Codes of four bits from −8 to 7 have a mean of their own.
    QVERIFY2(std::abs(sum / count) * std::sqrt(512.0) < 0.15, qPrintable(QString::number(sum / count)));
    QVERIFY2(std::abs(squares / count * 512 - 1) < 0.1, qPrintable(QString::number(squares / count * 512)));
    QVERIFY(weights->get("model.layers.3.mlp.up_proj.bias", 1, 512).format == compute::WeightFormat::BF16);
    QVERIFY(weights->get("model.layers.0.input_layernorm.weight", 1, 256).format ==
            compute::WeightFormat::F32);
    QVERIFY(bytes(matrix) != bytes(weights->get("model.layers.2.mlp.down_proj.weight", 256, 512)));
  }

  /// What is no whole number of blocks long is left plain.
  void narrowMatricesAreNotPacked() {
    const auto weights = makeRandomWeights(namedShape("3m"), 9, compute::WeightFormat::Q4_K);
    QVERIFY(weights->get("model.layers.0.self_attn.q_proj.weight", 192, 192).format ==
            compute::WeightFormat::BF16);
    QVERIFY(weights->get("model.layers.0.mlp.down_proj.weight", 192, 512).format ==
            compute::WeightFormat::Q4_K);
  }

  /// A benchmark that ran into infinities or into zeros would measure something else.
  void logitsStaySane() {
    const auto weights = makeRandomWeights(namedShape("3m"), 1);
    const auto backend = test::makeBackend("cpu", 1);
    Decoder decoder(namedShape("3m"), *weights, *backend);
    QCOMPARE(decoder.parameterCount(), std::size_t{3148224});
    const std::vector<testing::TestSegment> segments = {{false, 40}};
    std::vector<TokenId> tokens;
    for (TokenId id = 0; id < 40; ++id) tokens.push_back(id * 100);
    const auto store =
        backend->makeKvStore(decoder.kvShape(testing::blocksNeeded(segments, 16), 16, DType::F32));
    double squares = 0;
    const auto logits = testing::runSegments(decoder, *store, tokens, segments).logits;
    for (const float value : logits) squares += static_cast<double>(value) * static_cast<double>(value);
    const double deviation = std::sqrt(squares / static_cast<double>(logits.size()));
    QVERIFY2(deviation > 0.2 && deviation < 5, std::to_string(deviation).c_str());
  }
};

SPANSCOPE_TEST(tst_random_weights, TestRandomWeights, QCoreApplication)
#include "tst_random_weights.moc"
