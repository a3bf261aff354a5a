// SPDX-License-Identifier: GPL-3.0-or-later
// What is said of architectures that are not computed.
#include "engine/base/error.h"
#include "engine/model/architectures/architecture.h"
#include "engine/model/architectures/other_architectures.h"
#include "tests/engine/checkpoint/gguf_writer.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

using namespace spanscope;
using model::NotComputed;
using nlohmann::json;
using spanscope::product_text::says;

namespace {

/// The architectures of the loader of llama.cpp 0c1e57098 (gguf-py/gguf/constants.py), less those that are no
/// models of text: "clip", "wavtokenizer-dec", and drafts of other models.
constexpr const char* kLoaderNames =
    "llama llama4 deci falcon baichuan grok gpt2 gptj gptneox mpt starcoder refact bert modern-bert "
    "nomic-bert "
    "nomic-bert-moe neo-bert jina-bert-v2 jina-bert-v3 eurobert bloom stablelm qwen qwen2 qwen2moe qwen2vl "
    "qwen3 "
    "qwen3moe qwen3next qwen3vl qwen3vlmoe qwen35 qwen35moe phi2 phi3 phimoe plamo plamo2 plamo3 codeshell "
    "orion "
    "internlm2 minicpm minicpm3 gemma gemma2 gemma3 gemma3n gemma4 gemma-embedding starcoder2 rwkv6 "
    "rwkv6qwen2 rwkv7 "
    "arwkv7 mamba mamba2 jamba xverse command-r cohere2 cohere2moe dbrx olmo olmo2 olmoe openelm arctic "
    "deepseek "
    "deepseek2 deepseek32 deepseek4 chatglm glm4 glm4moe glm-dsa bitnet t5 t5encoder jais jais2 nemotron "
    "nemotron_h "
    "nemotron_h_moe exaone exaone4 exaone-moe granite granitemoe granitehybrid graniteswitch granite_swa "
    "chameleon plm "
    "bailingmoe bailingmoe2 dots1 arcee afmoe ernie4_5 ernie4_5-moe falcon-h1 hunyuan-moe hunyuan-dense "
    "smollm3 gpt-oss "
    "lfm2 lfm2moe dream smallthinker llada llada-moe seed_oss grovemoe apertus minimax-01 minimax-m2 cogvlm "
    "rnd1 "
    "pangu-embedded mistral3 mistral4 mimo2 step35 llama-embed maincoder kimi-linear kimi-k3";

std::optional<Error> errorOf(const json& config) {
  try {
    model::parseConfig(config.dump(), "config.json");
  } catch (const Failure& failure) {
    return failure.error();
  }
  return std::nullopt;
}

json sizes() {
  return {{"vocab_size", 100},
          {"hidden_size", 64},
          {"intermediate_size", 96},
          {"num_hidden_layers", 32},
          {"num_attention_heads", 8}};
}

}  // namespace

class TestArchitectures : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void namesOfTheLoaderAreKnown_data() {
    QTest::addColumn<bool>("isFamily");
    for (const QString& name : QString::fromLatin1(kLoaderNames).split(' ')) {
      QTest::newRow(qPrintable(name)) << (model::architectureByGguf(name.toStdString()) != nullptr);
    }
  }
  void namesOfTheLoaderAreKnown() {
    QFETCH(bool, isFamily);
    const std::optional<NotComputed> other = model::otherArchitecture(QTest::currentDataTag());
    QVERIFY(other.has_value() != isFamily);
    if (other) QVERIFY(!model::reasonText(*other).empty());
  }

  void refusedWithTheReason_data() {
    QTest::addColumn<QByteArray>("fields");
    QTest::addColumn<QString>("place");
    QTest::addColumn<QString>("words");
    const auto row = [](const char* name, const json& fields, const char* place, const char* words) {
      QTest::newRow(name) << QByteArray::fromStdString(fields.dump()) << QString(place) << QString(words);
    };
    row("hybrid by an interval",
        {{"model_type", "qwen3_5"},
         {"architectures", {"Qwen3_5ForCausalLM"}},
         {"full_attention_interval", 4}},
        "/architectures", "<keeps-running-state> 24 of 32 layers");
    row("hybrid by kinds", {{"model_type", "lfm2"}, {"layer_types", {"conv", "conv", "full_attention"}}},
        "/model_type", "<keeps-running-state> 2 of 3 layers");
    row("hybrid that tells nothing", {{"model_type", "zamba2"}}, "/model_type",
        "<keeps-running-state> <some-layers>");
    row("a class alone", {{"architectures", {"MambaForCausalLM"}}}, "/architectures",
        "<keeps-running-state>");
    row("latent", {{"model_type", "deepseek_v3"}}, "/model_type", "latent attention");
    row("learned positions", {{"model_type", "gpt2"}, {"architectures", {"GPT2LMHeadModel"}}},
        "/architectures", "cannot be relocated");
    row("an encoder", {{"model_type", "bert"}, {"architectures", {"BertForMaskedLM"}}}, "/architectures",
        "<encoder-reads-ahead>");
    row("experts", {{"model_type", "mixtral"}}, "/model_type", "<router-chooses-among>");
    row("pictures", {{"model_type", "gemma3"}, {"architectures", {"Gemma3ForConditionalGeneration"}}},
        "/architectures", "<model-pictures-sound>");
    row("positions that scale", {{"model_type", "llama4_text"}}, "/model_type", "<scales-queries-position>");
    row("nobody knows it", {{"model_type", "something"}}, "/model_type", "\"something\"");
  }
  void refusedWithTheReason() {
    QFETCH(QByteArray, fields);
    QFETCH(QString, place);
    QFETCH(QString, words);
    json config = sizes();
    config.update(json::parse(fields.toStdString()));
    const std::optional<Error> error = errorOf(config);
    QVERIFY(error.has_value());
    QVERIFY2(QString::fromStdString(error->place).endsWith(place), error->place.c_str());
    QVERIFY2(says(error->found, words), error->found.c_str());
    QVERIFY(QString::fromStdString(error->expected).contains(QStringLiteral("\"llama\"")));
  }

  void mixturesAreRefusedByField_data() {
    QTest::addColumn<QByteArray>("fields");
    QTest::addColumn<QString>("place");
    const auto row = [](const char* name, const json& fields, const char* place) {
      QTest::newRow(name) << QByteArray::fromStdString(fields.dump()) << QString(place);
    };
    const json qwen = {{"model_type", "qwen3_moe"}, {"num_experts", 4}, {"num_experts_per_tok", 2}};
    const json gptOss = {{"model_type", "gpt_oss"}, {"num_local_experts", 4}, {"num_experts_per_tok", 2}};
    const auto with = [](json fields, const json& more) {
      fields.update(more);
      return fields;
    };
    row("complete", qwen, "");
    row("more experts than there are", with(qwen, {{"num_experts_per_tok", 5}}), "/num_experts_per_tok");
    row("one expert", with(qwen, {{"num_experts", 1}}), "/num_experts");
    row("dense layers by a step", with(qwen, {{"decoder_sparse_step", 2}}), "/decoder_sparse_step");
    row("dense layers by a list", with(qwen, {{"mlp_only_layers", {1}}}), "/mlp_only_layers");
    row("gpt-oss", gptOss, "");
    // The fields of the published files.
    row("gpt-oss with older fields",
        with(gptOss, {{"rope_theta", 150000},
                      {"rope_scaling",
                       {{"rope_type", "yarn"},
                        {"factor", 32.0},
                        {"beta_fast", 32.0},
                        {"beta_slow", 1.0},
                        {"truncate", false},
                        {"original_max_position_embeddings", 4096}}},
                      {"experts_per_token", 2},
                      {"initial_context_length", 4096}}),
        "");
    row("another limit", with(gptOss, {{"swiglu_limit", 5}}), "/swiglu_limit");
    const json mxfp4 = {{"quantization_config", {{"quant_method", "mxfp4"}}}};
    row("gpt-oss in MXFP4", with(gptOss, mxfp4), "");
    row("others in MXFP4", with(qwen, mxfp4), "/quantization_config");
  }
  void mixturesAreRefusedByField() {
    QFETCH(QByteArray, fields);
    QFETCH(QString, place);
    json config = sizes();
    config.update(json::parse(fields.toStdString()));
    config["head_dim"] = 8;
    const std::optional<Error> error = errorOf(config);
    QCOMPARE(error.has_value(), !place.isEmpty());
    if (error) QVERIFY2(QString::fromStdString(error->place).endsWith(place), error->place.c_str());
  }

  void filesTellTheirStateLayers() {
    text::test::GgufWriter file;
    file.text("general.architecture", "qwen35");
    file.unsignedInteger("qwen35.block_count", 64);
    file.unsignedInteger("qwen35.full_attention_interval", 4);
    const QTemporaryDir folder;
    const QString path = folder.filePath("model.gguf");
    QFile out(path);
    QVERIFY(out.open(QIODevice::WriteOnly));
    out.write(QByteArray::fromStdString(file.bytes()));
    out.close();
    try {
      model::readConfig(path.toStdString());
      QFAIL("read");
    } catch (const Failure& failure) {
      QVERIFY2(failure.error().found.find("in 48 of 64 layers") != std::string::npos,
               failure.error().found.c_str());
    }
  }
};

SPANSCOPE_TEST(tst_architectures, TestArchitectures)
#include "tst_architectures.moc"
