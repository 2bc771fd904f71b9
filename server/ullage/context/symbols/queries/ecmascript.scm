(class_declaration name: (_) @definition)
(method_definition name: (property_identifier) @definition)
(function_declaration name: (identifier) @definition)
(generator_function_declaration name: (identifier) @definition)
(variable_declarator
  name: (identifier) @definition
  value: [(arrow_function) (function_expression) (generator_function) (class)])
(program (lexical_declaration (variable_declarator name: (identifier) @value)))
(program (export_statement (lexical_declaration (variable_declarator name: (identifier) @value))))

(call_expression function: [(identifier) @reference (member_expression property: (property_identifier) @reference)])
(new_expression constructor: (identifier) @reference)
(import_specifier name: (identifier) @reference)
