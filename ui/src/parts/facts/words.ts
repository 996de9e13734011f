import { dictionary } from '../../i18n';

/** Words for facts that several parts show: statuses, kinds of entries, severities. */
export const words = dictionary(
  {
    severityError: 'Error',
    severityWarning: 'Warning',
    severityInfo: 'Info',
    user: 'user',
    assistant: 'assistant',
    system: 'system',
    tool: 'tool',
    summary: 'Summary',
    correction: 'correction',
    opaque: 'raw line',
  },
  {
    severityError: '错误',
    severityWarning: '警告',
    severityInfo: '提示',
    user: '用户',
    assistant: '助手',
    system: '系统',
    tool: '工具',
    summary: '摘要',
    correction: '更正',
    opaque: '原始行',
  },
);
