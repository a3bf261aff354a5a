// SPDX-License-Identifier: GPL-3.0-or-later
// The folders of all tools, faked: what is listed, what is said of it, and what is passed over.
#include "engine/workbench/finder/model_finder.h"
#include "engine/workbench/resource_paths.h"
#include "tests/engine/checkpoint/gguf_writer.h"
#include "tests/support/backends.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

using namespace spanscope;
using namespace spanscope::workbench;
using spanscope::product_text::says;
using spanscope::product_text::worded;
using text::test::GgufWriter;
using Path = std::filesystem::path;

namespace {

const std::string kCommit = "0123456789abcdef0123456789abcdef01234567";

void write(const Path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::filesystem::remove(path);
  std::ofstream(path, std::ios::binary) << text;
}

/// A llama of one layer. `parts`: what the header says of parts; 0: nothing. `extra`: one more tensor.
std::string tinyGguf(const std::string& family = "llama", std::uint32_t parts = 0, std::uint32_t part = 0,
                     const std::string& pretokenizer = "gpt-2", const std::string& extra = {}) {
  GgufWriter file;
  file.text("general.architecture", family);
  const auto number = [&](const std::string& key, std::uint32_t value) {
    file.unsignedInteger(family + "." + key, value);
  };
  number("block_count", 1);
  number("context_length", 256);
  number("embedding_length", 16);
  number("feed_forward_length", 24);
  number("attention.head_count", 2);
  number("attention.head_count_kv", 1);
  number("attention.key_length", 8);
  number("attention.value_length", 8);
  number("rope.dimension_count", 8);
  number("vocab_size", 256);
  file.number(family + ".rope.freq_base", 10000);
  file.number(family + ".attention.layer_norm_rms_epsilon", 1e-5F);
  file.text("tokenizer.ggml.model", "gpt2");
  file.text("tokenizer.ggml.pre", pretokenizer);
  file.texts("tokenizer.ggml.tokens", text::test::byteLevelPieces());
  file.texts("tokenizer.ggml.merges", {});
  if (parts > 0) {
    file.unsignedInteger("split.count", parts);
    file.unsignedInteger("split.no", part);
  }
  const auto tensor = [&file](const std::string& name, std::uint64_t columns, std::uint64_t rows = 1) {
    std::vector<std::uint64_t> shape{columns};
    if (rows > 1) shape.push_back(rows);
    file.tensor(name, shape, 0, std::string(columns * rows * 4, '\0'));
  };
  if (part > 0) {
    tensor("blk.0.ffn_down.weight", 24, 16);
    return file.bytes();
  }
  if (!extra.empty()) tensor(extra, 16);
  tensor("token_embd.weight", 16, 256);
  tensor("output_norm.weight", 16);
  tensor("blk.0.attn_norm.weight", 16);
  tensor("blk.0.ffn_norm.weight", 16);
  tensor("blk.0.attn_q.weight", 16, 16);
  tensor("blk.0.attn_k.weight", 16, 8);
  tensor("blk.0.attn_v.weight", 16, 8);
  tensor("blk.0.attn_output.weight", 16, 16);
  tensor("blk.0.ffn_gate.weight", 16, 24);
  tensor("blk.0.ffn_up.weight", 16, 24);
  if (parts == 0) tensor("blk.0.ffn_down.weight", 24, 16);
  return file.bytes();
}

std::string manifest(const std::string& mediaType, const std::string& digest) {
  return R"({"schemaVersion": 2, "config": {"digest": "sha256:00"}, "layers": [)"
         R"({"mediaType": "application/vnd.ollama.image.license", "digest": "sha256:11", "size": 1},)"
         R"({"mediaType": ")" +
         mediaType + R"(", "digest": "sha256:)" + digest + R"(", "size": 2}]})";
}

std::vector<std::string> shown(const std::vector<ModelPlace>& places) {
  std::vector<std::string> lines;
  for (const ModelPlace& place : places)
    lines.push_back(std::string(keeperName(place.keeper)) + ": " + place.name);
  return lines;
}

/// The header of the one model of this name.
const FoundModel& found(const std::vector<FoundModel>& models, const std::string& name) {
  static const FoundModel kNone;
  for (const FoundModel& model : models) {
    if (model.place.name == name) return model;
  }
  return kNone;
}

}  // namespace

class TestModelFinder : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() {
    m_folder = std::make_unique<QTemporaryDir>();
    m_root = m_folder->path().toStdString();
  }

  void environmentSaysWhereToolsKeepModels_data() {
    QTest::addColumn<QStringList>("variables");
    QTest::addColumn<QString>("hub");
    QTest::addColumn<QString>("ollama");
    QTest::addColumn<QString>("llamaCpp");
    const QString home = QStringLiteral("HOME=/h");
    const QString hub = QStringLiteral("/h/.cache/huggingface/hub");
    const QString ollama = QStringLiteral("/h/.ollama/models");
    const QString llama = QStringLiteral("/h/.cache/llama.cpp");
    QTest::newRow("home alone") << QStringList{home} << hub << ollama << llama;
    QTest::newRow("empty values") << QStringList{home, QStringLiteral("HF_HOME="),
                                                 QStringLiteral("LLAMA_CACHE=")}
                                  << hub << ollama << llama;
    QTest::newRow("a folder for caches")
        << QStringList{home, QStringLiteral("XDG_CACHE_HOME=/c")} << QStringLiteral("/c/huggingface/hub")
        << ollama << QStringLiteral("/c/llama.cpp");
    QTest::newRow("the tools' own") << QStringList{home, QStringLiteral("XDG_CACHE_HOME=/c"),
                                                   QStringLiteral("HF_HOME=/hf"),
                                                   QStringLiteral("OLLAMA_MODELS=/o"),
                                                   QStringLiteral("LLAMA_CACHE=/l")}
                                    << QStringLiteral("/hf/hub") << QStringLiteral("/o")
                                    << QStringLiteral("/l");
    QTest::newRow("the hub itself") << QStringList{home, QStringLiteral("HF_HOME=/hf"),
                                                   QStringLiteral("HF_HUB_CACHE=/hub")}
                                    << QStringLiteral("/hub") << ollama << llama;
    QTest::newRow("nothing") << QStringList{} << QString()
                             << QStringLiteral("/usr/share/ollama/.ollama/models") << QString();
  }

  void environmentSaysWhereToolsKeepModels() {
    QFETCH(QStringList, variables);
    const VariableReader environment = [&](const char* name) -> std::optional<std::string> {
      for (const QString& variable : variables) {
        if (variable.section(QLatin1Char('='), 0, 0) == QLatin1String(name))
          return variable.section(QLatin1Char('='), 1).toStdString();
      }
      return std::nullopt;
    };
    const ModelFolders folders = foldersOfTools(environment);
    const auto first = [](const std::vector<Path>& paths) {
      return paths.empty() ? QString() : QString::fromStdString(paths.front().string());
    };
    QTEST(first(folders.huggingFace), "hub");
    QTEST(first(folders.ollama), "ollama");
    QTEST(first(folders.llamaCpp), "llamaCpp");
    QCOMPARE(folders.lmStudio.empty(), variables.empty());
  }

  void everyLayoutIsRead() {
    const ModelFolders folders = fakedFolders();
    const std::vector<std::string> expected{"recent: mine.gguf",
                                            "bundled: spanlet",
                                            "Hugging Face: org/named",
                                            "Hugging Face: org/two, a.gguf",
                                            "Hugging Face: org/two, b-00001-of-00002.gguf",
                                            "Ollama: elsewhere.example/me/other:latest",
                                            "Ollama: gone:1b",
                                            "Ollama: me/linked:q4",
                                            "Ollama: mlx:latest",
                                            "Ollama: tiny:1b",
                                            "LM Studio: pub/model",
                                            "llama.cpp: org_model_tiny"};
    QCOMPARE(shown(modelPlaces(folders)), expected);
    // The one snapshot that refs/main names, and no other.
    for (const ModelPlace& place : modelPlaces(folders)) {
      if (place.name == "org/named") QCOMPARE(place.path.filename().string(), kCommit);
    }
  }

  void weightsWithoutAConfigurationAreListed() {
    ModelFolders folders;
    folders.lmStudio.push_back(m_root / "lm");
    write(m_root / "lm/pub/alone/model.safetensors", "");
    write(m_root / "lm/pub/notes/readme.md", "no model");
    ModelFinder finder;
    const std::vector<FoundModel> models = finder.find(folders, nullptr, nullptr);
    QCOMPARE(models.size(), std::size_t{1});
    QCOMPARE(models.front().place.name, std::string("pub/alone"));
    QVERIFY(models.front().header.problem.find("config.json") != std::string::npos);
  }

  void headersSayWhatAModelIs() {
    const ModelFolders folders = fakedFolders();
    ModelFinder finder;
    run::SessionConfig small;
    small.blockCount = 64;
    run::SessionConfig large;
    large.blockCount = 128;
    const compute::BackendKind device = test::cpuBackends().choose("cpu").kind;
    const std::vector<FoundModel> models = finder.find(folders, &small, &device);

    const FoundModel& tiny = found(models, "tiny:1b");
    QVERIFY2(tiny.canRun(), tiny.header.problem.c_str());
    QCOMPARE(tiny.header.family, std::string("LlamaForCausalLM"));
    QCOMPARE(tiny.header.context, std::int64_t{256});
    QCOMPARE(tiny.header.parameters, std::int64_t{256 * 16 + 16 * 3 + 256 * 2 + 128 * 2 + 384 * 3});
    QCOMPARE(tiny.header.types.size(), std::size_t{1});
    QCOMPARE(tiny.header.types.front().first, std::string("F32"));
    QCOMPARE(tiny.header.types.front().second, std::int64_t{11});
    QCOMPARE(tiny.header.bytes, std::uint64_t{std::filesystem::file_size(tiny.place.path)});
    QVERIFY(tiny.header.chatTemplate.empty() && !tiny.header.templateProblem.empty());
    QCOMPARE(tiny.movesSpans(), std::optional(true));
    QVERIFY(tiny.memory > 0);

    // Several parts count as one, with the tensors and bytes of all.
    const FoundModel& parts = found(models, "org/two, b-00001-of-00002.gguf");
    QVERIFY2(parts.canRun(), parts.header.problem.c_str());
    QCOMPARE(parts.header.parameters, tiny.header.parameters);
    QVERIFY(parts.header.bytes > std::filesystem::file_size(parts.place.path));

    const FoundModel& bundled = found(models, "spanlet");
    QVERIFY2(bundled.canRun(), bundled.header.problem.c_str());
    QCOMPARE(bundled.header.chatTemplate, std::string("spanlet"));
    QVERIFY(bundled.header.templateProblem.empty());
    QVERIFY(bundled.header.parameters > 0);

    // What cannot run says why in one sentence, without the folders of its file.
    const FoundModel& hybrid = found(models, "org/two, a.gguf");
    QVERIFY(!hybrid.canRun());
    QCOMPARE(hybrid.header.family, std::string("qwen35"));
    QCOMPARE(hybrid.header.context, std::int64_t{256});
    QVERIFY2(says(hybrid.header.problem.substr(1), worded("<keeps-running-state>").mid(1)),
             hybrid.header.problem.c_str());
    QVERIFY(hybrid.header.problem.find(m_root.string()) == std::string::npos);
    QVERIFY(!hybrid.movesSpans());
    QCOMPARE(hybrid.memory, std::uint64_t{0});
    QVERIFY(found(models, "mlx:latest").header.problem.find("MLX") != std::string::npos);
    QVERIFY(found(models, "gone:1b").header.problem.find("missing") != std::string::npos);

    // A tokenizer that is not known is a reason, too.
    write(m_root / "llama/other.gguf", tinyGguf("llama", 0, 0, "nobody's"));
    const std::vector<FoundModel> more = finder.find(folders, &small, &device);
    const FoundModel& other = found(more, "other");
    QVERIFY2(other.header.problem.find("nobody's") != std::string::npos, other.header.problem.c_str());
    QCOMPARE(other.header.parameters, tiny.header.parameters);

    // A larger pool takes more; nothing is read for it once more.
    const std::size_t read = finder.headersRead();
    QVERIFY(found(finder.find(folders, &large, &device), "tiny:1b").memory > tiny.memory);
    QCOMPARE(finder.headersRead(), read);
    write(m_root / "llama/org_model_tiny.gguf", tinyGguf() + std::string(32, '\0'));
    finder.find(folders, &small, &device);
    QCOMPARE(finder.headersRead(), read + 1);
  }

  /// What is no model is named as what it is.
  void problemsNameTheirCause() {
    const std::string pointer =
        "version https://git-lfs.github.com/spec/v1\noid sha256:" + std::string(64, 'a') + "\nsize 272147\n";
    write(m_root / "empty.gguf", "");
    write(m_root / "pointer.gguf", pointer);
    const auto copy = [this](const char* name) {
      const Path folder = m_root / name;
      std::filesystem::copy(bundledModelDirectory(), folder);
      return folder;
    };
    write(copy("weights") / "model.safetensors", pointer);
    write(copy("vocabulary") / "tokenizer.model", pointer);
    const Path mlx = copy("mlx");
    std::ifstream file(mlx / "config.json");
    std::string config((std::istreambuf_iterator<char>(file)), {});
    file.close();
    write(mlx / "config.json", config.insert(config.find('{') + 1, R"("quantization": {"bits": 4},)"));
    write(m_root / "extra.gguf", tinyGguf("llama", 0, 0, "gpt-2", "blk.0.vision.weight"));

    const auto problemOf = [this](const char* name) { return readModelHeader(m_root / name).problem; };
    const auto reports = [&](const char* name, const char* cause) {
      const std::string problem = problemOf(name);
      QVERIFY2(problem.find(cause) != std::string::npos, problem.c_str());
    };
    reports("empty.gguf", "an empty file");
    for (const char* name : {"pointer.gguf", "weights", "vocabulary"}) reports(name, "Git LFS");
    reports("mlx", "MLX");
    reports("extra.gguf", "blk.0.vision.weight");
  }

  void aLongListSaysThatItEnds() {
    for (std::size_t i = 0; i < kMostListedModels; ++i)
      write(m_root / "llama" / (std::to_string(i) + ".gguf"), "");
    ModelFolders folders;
    folders.llamaCpp.push_back(m_root / "llama");
    std::vector<ModelPlace> places = modelPlaces(folders);
    QCOMPARE(places.size(), kMostListedModels);
    for (const ModelPlace& place : places) QVERIFY(!place.path.empty());
    write(m_root / "llama" / "one more.gguf", "");
    places = modelPlaces(folders);
    QCOMPARE(places.size(), kMostListedModels + 1);
    QVERIFY(places.back().path.empty() && !places.back().problem.empty());
  }

  /// Whatever files are in the user's folders, the rest of the list is complete.
  void nothingEndsTheList() {
    const ModelFolders whole = fakedFolders();
    const std::size_t before = modelPlaces(whole).size();
    const Path hub = m_root / "hub";
    std::filesystem::create_directories(hub / "models--org--loop/snapshots/c");
    std::filesystem::create_directory_symlink("..", hub / "models--org--loop/snapshots/c/again");
    std::filesystem::create_directory_symlink(hub / "models--org--two", m_root / "lm/pub/all");
    std::filesystem::create_symlink("nowhere", m_root / "llama/broken.gguf");
    std::filesystem::create_symlink("itself.gguf", m_root / "llama/itself.gguf");
    std::filesystem::create_directories(m_root / "llama/folder.gguf");
    std::filesystem::create_directories(hub / "models--org--empty/snapshots");
    write(hub / "models--org--file", "no folder");
    write(m_root / "ollama/manifests/registry.ollama.ai/library/bad/json", "{\"layers\": [");
    write(m_root / "ollama/manifests/registry.ollama.ai/library/bad/list", "[1, 2]");
    write(m_root / "ollama/manifests/registry.ollama.ai/library/bad/kinds",
          R"({"layers": [1, null, {"mediaType": 5}, {"digest": {}}]})");
    write(m_root / "ollama/manifests/registry.ollama.ai/library/bad/escape",
          manifest("application/vnd.ollama.image.model", "../../../../etc/passwd"));
    write(m_root / "llama/short.gguf", "GGUF\x03");
    std::filesystem::create_directories(m_root / "locked");
    std::filesystem::permissions(m_root / "locked", std::filesystem::perms::none);
    for (int i = 0; i < 2000; ++i) write(m_root / "llama" / ("note" + std::to_string(i)), "");
    ModelFolders folders = whole;
    folders.llamaCpp.push_back(m_root / "locked");
    folders.huggingFace.push_back(m_root / "missing");

    const std::vector<ModelPlace> places = modelPlaces(folders);
    std::size_t added = 0;
    for (const ModelPlace& place : places) {
      const bool isNew = place.name.starts_with("bad:") || place.name == "short";
      added += isNew ? 1 : 0;
      if (place.name == "bad:escape") QVERIFY(place.path.empty());
    }
    QCOMPARE(places.size(), before + added);
    ModelFinder finder;
    QVERIFY(!found(finder.find(folders, nullptr, nullptr), "short").header.problem.empty());
    std::filesystem::permissions(m_root / "locked", std::filesystem::perms::owner_all);

    std::stop_source stop;
    stop.request_stop();
    QVERIFY(modelPlaces(folders, stop.get_token()).empty());
  }

 private:
  /// A model in the layout of every tool.
  ModelFolders fakedFolders() {
    write(m_root / "recent/mine.gguf", tinyGguf());

    const Path hub = m_root / "hub";
    const Path blob = hub / "models--org--two/blobs/etag";
    const Path two = hub / "models--org--two/snapshots" / kCommit;
    write(blob, tinyGguf("qwen35"));
    std::filesystem::create_directories(two);
    std::filesystem::create_symlink("../../blobs/etag", two / "a.gguf");
    write(two / "b-00001-of-00002.gguf", tinyGguf("llama", 2, 0));
    write(two / "b-00002-of-00002.gguf", tinyGguf("llama", 2, 1));
    const Path named = hub / "models--org--named";
    write(named / "refs/main", kCommit);
    for (const std::string& commit : {kCommit, std::string("older")}) {
      std::filesystem::create_directories(named / "snapshots" / commit);
      write(named / "snapshots" / commit / "config.json", R"({"model_type": "mamba", "architectures": []})");
    }
    write(hub / "datasets--org--data/snapshots/c/config.json", "{}");

    const Path ollama = m_root / "ollama";
    const std::string digest(64, 'a');
    const std::string other(64, 'b');
    write(ollama / "blobs" / ("sha256-" + digest), tinyGguf());
    write(ollama / "blobs" / ("sha256-" + other), tinyGguf());
    const std::string model = "application/vnd.ollama.image.model";
    const Path hosts = ollama / "manifests";
    write(hosts / "registry.ollama.ai/library/tiny/1b", manifest(model, digest));
    write(hosts / "registry.ollama.ai/library/gone/1b", manifest(model, std::string(64, 'c')));
    write(hosts / "registry.ollama.ai/library/mlx/latest",
          manifest("application/vnd.ollama.image.tensor", digest));
    const std::string third(64, 'd');
    write(ollama / "blobs" / ("sha256-" + third), tinyGguf());
    write(hosts / "elsewhere.example/me/other/latest", manifest(model, third));
    // The newer layout: names are links to manifests among the blobs; one name is in both.
    write(ollama / "blobs/sha256-manifest", manifest(model, other));
    const Path newer = ollama / "manifest-v2/ollama.com";
    std::filesystem::create_directories(newer / "me/linked");
    std::filesystem::create_symlink(ollama / "blobs/sha256-manifest", newer / "me/linked/q4");
    write(newer / "library/tiny/1b", manifest(model, digest));

    write(m_root / "lm/pub/model/tiny.gguf", tinyGguf());
    write(m_root / "llama/org_model_tiny.gguf", tinyGguf());
    // What is recent is listed once.
    if (!std::filesystem::exists(m_root / "llama/mine.gguf"))
      std::filesystem::create_symlink(m_root / "recent/mine.gguf", m_root / "llama/mine.gguf");
    return {.recent = {m_root / "recent/mine.gguf"},
            .bundled = bundledModelDirectory().parent_path(),
            .huggingFace = {hub},
            .ollama = {ollama, m_root / "no-service"},
            .lmStudio = {m_root / "lm"},
            .llamaCpp = {m_root / "llama"}};
  }

  std::unique_ptr<QTemporaryDir> m_folder;
  Path m_root;
};

SPANSCOPE_TEST(tst_model_finder, TestModelFinder, QCoreApplication)
#include "tst_model_finder.moc"
